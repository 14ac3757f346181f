// The report as a picture: what happened, which alerts fired, how fast the budget burned and what was left of it, over one axis of time.
//
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Measures of the picture, in points.
const (
	pictureWidth = 900
	titleHeight  = 44
	laneHeight   = 22
	laneMargin   = 34 // of a panel of lanes, for its title and its axis
	panelTitle   = 20
	chartHeight  = 180
	namesHeight  = 30 // of the names of the times
)

// panel is one plot of the picture.
type panel struct {
	plot   *plot.Plot
	title  string
	legend []entry
	height vg.Length
}

// entry is a line of a plot, as its legend names it.
type entry struct {
	name  string
	color color.Color
}

// SVG writes the picture.
func (r *Report) SVG(w io.Writer) error {
	panels := r.panels()
	height := vg.Length(titleHeight)
	for _, p := range panels {
		height += p.height
	}
	canvas := vgsvg.New(pictureWidth, height)
	whole := draw.New(canvas)
	whole.SetColor(white)
	whole.Fill(whole.Path())
	r.title(whole)
	top := height - titleHeight
	var areas []draw.Canvas
	for _, p := range panels {
		areas = append(areas, draw.Crop(whole, 12, -16, top-p.height, top-height))
		top -= p.height
	}
	left, right := sidesOf(panels, areas)
	for i, p := range panels {
		own := p.plot.DataCanvas(areas[i])
		p.plot.Draw(draw.Crop(areas[i], left-own.Min.X, right-own.Max.X, 0, -panelTitle))
		p.heading(whole, left, right, areas[i].Max.Y-panelTitle+5)
	}
	var written bytes.Buffer
	if _, err := canvas.WriteTo(&written); err != nil {
		return fmt.Errorf("drawing the timeline: %w", err)
	}
	// Arial and Helvetica are as wide as Liberation Sans, by which the text was laid out.
	picture := bytes.ReplaceAll(written.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	_, err := w.Write(picture)
	return err
}

// sidesOf are where the data of all plots begin and end, so that their labels have room.
func sidesOf(panels []panel, areas []draw.Canvas) (left, right vg.Length) {
	right = vg.Length(math.Inf(1))
	for i, p := range panels {
		data := p.plot.DataCanvas(areas[i])
		left, right = max(left, data.Min.X), min(right, data.Max.X)
	}
	return left, right
}

// heading writes the title of a panel, and at its right end what each line is.
func (p panel) heading(c draw.Canvas, left, right, y vg.Length) {
	const stroke, gap = 14, 10
	style := textStyle(11)
	c.FillText(style, vg.Point{X: left, Y: y}, p.title)
	style = textStyle(9)
	for _, e := range slices.Backward(p.legend) {
		right -= style.Width(e.name)
		c.FillText(style, vg.Point{X: right, Y: y}, e.name)
		c.StrokeLine2(draw.LineStyle{Color: e.color, Width: 2}, right-stroke-3, y+3, right-3, y+3)
		right -= stroke + gap
	}
}

func (r *Report) title(c draw.Canvas) {
	style := textStyle(14)
	style.YAlign = draw.YTop
	c.FillText(style, vg.Point{X: 16, Y: c.Max.Y - 10}, fmt.Sprintf("%s: %s, %s %% over %s", r.Scenario, r.SLO, r.Objective, r.Period))
	style = textStyle(10)
	style.YAlign = draw.YTop
	style.Color = grey
	c.FillText(style, vg.Point{X: 16, Y: c.Max.Y - 27}, r.Description)
}

// panels are the plots from top to bottom. Only the last one names the times.
func (r *Report) panels() []panel {
	var panels []panel
	if len(r.happened) > 0 {
		panels = append(panels, panel{title: "what happens", plot: r.lanesPlot(r.happened), height: laneMargin + laneHeight*vg.Length(len(r.happened))})
	}
	if lanes := r.alertLanes(); len(lanes) > 0 {
		panels = append(panels, panel{title: "alerts", plot: r.lanesPlot(lanes), height: laneMargin + laneHeight*vg.Length(len(lanes))})
	}
	panels = append(panels, r.burnPanel(), r.budgetPanel())
	panels = slices.DeleteFunc(panels, func(p panel) bool { return p.plot == nil })
	for _, p := range panels {
		r.timeAxis(p.plot)
	}
	if len(panels) > 0 {
		last := &panels[len(panels)-1]
		last.plot.X.Label.Text = "time since " + r.Start.Format("2006-01-02 15:04 MST")
		last.plot.X.Tick.Marker = plot.TickerFunc(timeTicks)
		last.height += namesHeight
	}
	return panels
}
