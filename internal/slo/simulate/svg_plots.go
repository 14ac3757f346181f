// The plots of the picture: bars for what happened and for alerts, lines for burn rates and for the budget.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"cmp"
	"image/color"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours: a palette that stays apart for the colour-blind (Okabe and Ito), and greys.
var (
	white     = color.RGBA{255, 255, 255, 255}
	grey      = color.RGBA{105, 105, 105, 255}
	faint     = color.RGBA{225, 225, 225, 255}
	vermilion = color.RGBA{213, 94, 0, 255}
	orange    = color.RGBA{230, 159, 0, 255}
	blue      = color.RGBA{0, 114, 178, 255}
	sky       = color.RGBA{86, 180, 233, 255}
	green     = color.RGBA{0, 158, 115, 255}
	purple    = color.RGBA{204, 121, 167, 255}
)

var shades = map[shade]color.Color{eventShade: grey, pendingShade: faint, pageShade: vermilion, ticketShade: orange, otherShade: purple}

func textStyle(size vg.Length) text.Style {
	style := plot.New().Title.TextStyle
	style.Font.Variant, style.Font.Size = "Sans", size
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	return style
}

// newPlot is an empty plot in the house's look.
func newPlot() *plot.Plot {
	p := plot.New()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = grey, grey
		axis.Tick.Label.Font.Variant, axis.Tick.Label.Font.Size = "Sans", 9
		axis.Label.TextStyle.Font.Variant, axis.Label.TextStyle.Font.Size = "Sans", 10
		axis.Padding = 2
	}
	p.Add(grid())
	return p
}

// timeAxis gives a plot the report's axis of time, in seconds since the start.
func (r *Report) timeAxis(p *plot.Plot) {
	p.X.Min, p.X.Max = r.at(r.Shown), r.at(r.To)
	p.X.Tick.Marker = plot.TickerFunc(func(from, to float64) []plot.Tick {
		ticks := timeTicks(from, to)
		for i := range ticks {
			ticks[i].Label = " "
		}
		return ticks
	})
}

// grid is lines at the named times, under what is drawn later.
func grid() plot.Plotter {
	g := plotter.NewGrid()
	g.Horizontal.Width, g.Vertical.Color = 0, faint
	return g
}

func (r *Report) at(t time.Time) float64 { return t.Sub(r.Start).Seconds() }

// timeTicks are some ten round times.
func timeTicks(from, to float64) []plot.Tick {
	steps := []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour}
	step := 24 * time.Hour
	for (to-from)/step.Seconds() > 12 {
		step += 24 * time.Hour
	}
	if i := slices.IndexFunc(steps, func(s time.Duration) bool { return (to-from)/s.Seconds() <= 12 }); i >= 0 {
		step = steps[i]
	}
	var ticks []plot.Tick
	for at := time.Duration(from/step.Seconds()) * step; at.Seconds() <= to; at += step {
		if at.Seconds() < from {
			continue
		}
		label := "+" + short(at)
		switch {
		case at == 0:
			label = "0"
		case at < 0:
			label = "-" + short(-at)
		}
		ticks = append(ticks, plot.Tick{Value: at.Seconds(), Label: label})
	}
	return ticks
}

// lanesPlot shows lanes, the first one on top.
func (r *Report) lanesPlot(lanes []lane) *plot.Plot {
	p := newPlot()
	var ticks plot.ConstantTicks
	for i, l := range lanes {
		y := float64(len(lanes) - 1 - i)
		ticks = append(ticks, plot.Tick{Value: y, Label: l.name})
		for _, b := range l.bars {
			p.Add(drawn{r.at(b.from), r.at(b.to), y, shades[b.shade], b.label})
		}
	}
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = -.6, float64(len(lanes))-.4, ticks
	p.Y.Tick.Length, p.Y.Width = 0, 0
	return p
}

// drawn is a bar on its lane.
type drawn struct {
	from, to, y float64
	color       color.Color
	label       string
}

// Plot implements plot.Plotter. A bar is at least wide enough to be seen.
func (d drawn) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	left := max(x(d.from), c.Min.X)
	right := min(max(x(d.to), left+1.5), c.Max.X)
	if right <= left || x(d.to) < c.Min.X {
		return
	}
	c.FillPolygon(d.color, []vg.Point{{X: left, Y: y(d.y) - 6}, {X: right, Y: y(d.y) - 6}, {X: right, Y: y(d.y) + 6}, {X: left, Y: y(d.y) + 6}})
	style := textStyle(9)
	style.YAlign = draw.YCenter
	at := vg.Point{X: right + 4, Y: y(d.y)}
	if right+4+style.Width(d.label) > c.Max.X { // no room after it: on it
		style.XAlign, style.Color, at.X = draw.XRight, white, right-4
	}
	c.FillText(style, at, d.label)
}

// ratioPrefix begins the names of the recorded error ratios; the window follows.
const ratioPrefix = "slo:sli_error:ratio_rate"

// shownWindows are those whose burn rates are shown, with their colours.
var shownWindows = []struct {
	metric, name string
	color        color.Color
}{
	{ratioPrefix + "5m", "5m", sky},
	{ratioPrefix + "1h", "1h", blue},
	{ratioPrefix + "6h", "6h", green},
	{ratioPrefix + "3d", "3d", purple},
}

// leastBurn is the bottom of the axis of burn rates, which is a logarithm: what burns slower is drawn there.
const leastBurn = .1

// burnPanel shows how many times faster than evenly the budget burned; without a plot when no ratio was recorded.
func (r *Report) burnPanel() panel {
	p := newPlot()
	shown := panel{title: "burn rate: how many times too fast the budget is spent, over", height: chartHeight}
	for _, w := range shownWindows {
		if r.lines(p, w.metric, w.color, func(ratio float64) float64 { return max(ratio/r.budget, leastBurn) }) {
			shown.legend = append(shown.legend, entry{w.name, w.color})
			shown.plot = p
		}
	}
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.ConstantTicks{
		{Value: .1, Label: "0.1"}, {Value: 1, Label: "1"}, {Value: 6, Label: "6"}, {Value: 14.4, Label: "14.4"}, {Value: 100, Label: "100"}, {Value: 1000, Label: "1000"},
	}
	p.Y.Min, p.Y.Max = leastBurn, max(p.Y.Max, 30)
	p.Add(r.level(1, faint), r.level(6, orange), r.level(14.4, vermilion))
	return shown
}

// budgetPanel shows what is left of the budget; without a plot when that is not recorded.
func (r *Report) budgetPanel() panel {
	p := newPlot()
	shown := panel{title: "error budget left, per cent", height: chartHeight, legend: []entry{{"recorded", blue}, {"true, at the end", vermilion}}}
	if r.lines(p, remaining, blue, func(left float64) float64 { return 100 * left }) {
		shown.plot = p
	}
	for _, b := range r.Budgets {
		end, err := plotter.NewScatter(plotter.XYs{{X: r.at(r.To), Y: 100 * b.Left}})
		if err != nil {
			continue // not a number: there is no such point
		}
		end.GlyphStyle = draw.GlyphStyle{Color: vermilion, Radius: 4, Shape: draw.RingGlyph{}}
		p.Add(end)
	}
	p.Y.Min, p.Y.Max = min(p.Y.Min, 0), max(p.Y.Max, 105)
	p.Add(r.level(0, vermilion))
	return shown
}

// lines draws the recorded series of a metric, broken where there is a gap; false when there are none.
func (r *Report) lines(p *plot.Plot, metric string, c color.Color, value func(float64) float64) bool {
	found := false
	for _, series := range r.Recorded {
		if series.Metric != metric {
			continue
		}
		for _, part := range series.unbroken(r) {
			var points plotter.XYs
			for i := range part.Times {
				points = append(points, plotter.XY{X: float64(part.Times[i]) - float64(r.Start.Unix()), Y: value(part.Values[i])})
			}
			line, err := plotter.NewLine(points)
			if err != nil {
				continue // no points
			}
			line.Color, line.Width = c, 1.5
			p.Add(line)
			found = true
		}
	}
	return found
}

// unbroken are the parts of a series between which nothing was recorded for longer than Prometheus looks back.
func (s Recorded) unbroken(r *Report) []Recorded {
	gap := int64(cmp.Or(2*r.To.Sub(r.Shown)/pointsShown, 0) / time.Second)
	gap = max(gap, int64(lookback/time.Second))
	var parts []Recorded
	from := 0
	for i := 1; i <= len(s.Times); i++ {
		if i == len(s.Times) || s.Times[i]-s.Times[i-1] > gap {
			parts = append(parts, Recorded{Times: s.Times[from:i], Values: s.Values[from:i]})
			from = i
		}
	}
	return parts
}

// level is a line across the plot.
func (r *Report) level(y float64, c color.Color) plot.Plotter {
	line := &plotter.Line{XYs: plotter.XYs{{X: r.at(r.Shown), Y: y}, {X: r.at(r.To), Y: y}}}
	line.Color, line.Width, line.Dashes = c, 1, []vg.Length{4, 3}
	return line
}
