// The windows table: which burn rates alert, over which windows, for each period that a budget can be counted over.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Day is 24 hours: budgets are counted over hours, so that a change of the clocks changes no period.
const Day = 24 * time.Hour

// Severity says how soon somebody must look.
type Severity int

// The severities.
const (
	SeverityUnknown Severity = iota
	Page                     // now, at any hour
	Ticket                   // within days
)

// String is the value of Sloth's label sloth_severity.
func (s Severity) String() string {
	switch s {
	case Page:
		return "page"
	case Ticket:
		return "ticket"
	case SeverityUnknown:
	}
	return "unknown"
}

// Speed tells the two tiers of one alert apart: a quick one for a fast burn and a slow one for a lasting burn. The alert fires when either does.
type Speed int

// The speeds.
const (
	SpeedUnknown Speed = iota
	Quick
	Slow
)

// String is the speed as people write it.
func (s Speed) String() string {
	switch s {
	case Quick:
		return "quick"
	case Slow:
		return "slow"
	case SpeedUnknown:
	}
	return "unknown"
}

// Tier is one condition of an alert: it holds while the error ratio exceeds Burn × budget over the long AND over the short window. The short one is there to end it soon after the trouble.
type Tier struct {
	Severity    Severity
	Speed       Speed
	Burn        *big.Rat // how many times faster than evenly over the period the budget is spent
	Long, Short time.Duration
}

// String names the tier, such as "page quick".
func (t Tier) String() string { return t.Severity.String() + " " + t.Speed.String() }

// Threshold is the error ratio above which the tier holds; at 1 or more it can never hold. The caller may change the number.
func (t Tier) Threshold(o Objective) *big.Rat { return new(big.Rat).Mul(t.Burn, o.Budget()) }

// Spent is the share of the period's budget that is spent when a burn at exactly the tier's rate has lasted for its long window. The caller may change the number.
func (t Tier) Spent(period time.Duration) *big.Rat {
	return new(big.Rat).Mul(t.Burn, big.NewRat(int64(t.Long), int64(period)))
}

// Windows are the tiers of the alerts of one period.
type Windows struct {
	Period time.Duration
	Tiers  []Tier // page quick, page slow, ticket quick, ticket slow
}

// Of returns the tiers of one alert.
func (w Windows) Of(severity Severity) []Tier {
	return slices.DeleteFunc(slices.Clone(w.Tiers), func(t Tier) bool { return t.Severity != severity })
}

// shares are what each tier has spent of the period's budget when it fires. The windows are the same for every period, so that every recording has one name.
//
//   - 30 d and 28 d are Sloth's own: the SRE workbook's 2, 5, 10 and 10 %.
//   - 7 d is the example that Sloth ships, but for its last tier: 42 % would be 0.98 times an even burn, and alert on a budget that is not even overspent. 3/7 is 1 times.
//   - 90 d has the burn rates of 30 d: an outage as bad is as urgent, whatever period its budget is counted over, and a lasting burn of more than 1 always becomes a ticket.
//     With the workbook's shares the slowest tier would be 3 times an even burn, and a budget could be spent three times over without any alert.
var shares = map[time.Duration][4]*big.Rat{
	7 * Day:  {big.NewRat(8, 100), big.NewRat(125, 1000), big.NewRat(20, 100), big.NewRat(3, 7)},
	28 * Day: {big.NewRat(2, 100), big.NewRat(5, 100), big.NewRat(10, 100), big.NewRat(10, 100)},
	30 * Day: {big.NewRat(2, 100), big.NewRat(5, 100), big.NewRat(10, 100), big.NewRat(10, 100)},
	90 * Day: {big.NewRat(1, 150), big.NewRat(1, 60), big.NewRat(1, 30), big.NewRat(1, 30)},
}

// WindowsFor returns the tiers for a period: 7, 28, 30 or 90 days. Others are an error that names these.
func WindowsFor(period time.Duration) (Windows, error) {
	spent, ok := shares[period]
	if !ok {
		return Windows{}, fmt.Errorf("looking for the windows of a period of %s: there are those of %s", period, strings.Join(Periods(), ", "))
	}
	w := Windows{Period: period, Tiers: []Tier{
		{Severity: Page, Speed: Quick, Long: time.Hour, Short: 5 * time.Minute},
		{Severity: Page, Speed: Slow, Long: 6 * time.Hour, Short: 30 * time.Minute},
		{Severity: Ticket, Speed: Quick, Long: Day, Short: 2 * time.Hour},
		{Severity: Ticket, Speed: Slow, Long: 3 * Day, Short: 6 * time.Hour},
	}}
	for i := range w.Tiers {
		w.Tiers[i].Burn = BurnRate(spent[i], period, w.Tiers[i].Long)
	}
	return w, nil
}

// BurnRate is how many times faster than evenly a budget is spent of which this share goes in this window.
func BurnRate(share *big.Rat, period, window time.Duration) *big.Rat {
	return new(big.Rat).Mul(share, big.NewRat(int64(period), int64(window)))
}

// Periods are the periods that have windows, as they are written, shortest first.
func Periods() []string {
	var written []string
	for _, period := range slices.Sorted(maps.Keys(shares)) {
		written = append(written, fmt.Sprintf("%dd", period/Day))
	}
	return written
}

// ParsePeriod reads a period such as "30d". It is an error unless the period has windows.
func ParsePeriod(text string) (Windows, error) {
	days, err := strconv.Atoi(strings.TrimSuffix(text, "d"))
	if err != nil || !strings.HasSuffix(text, "d") || days < 0 || days > 366 {
		return Windows{}, fmt.Errorf("reading the period %q: it is one of %s", text, strings.Join(Periods(), ", "))
	}
	return WindowsFor(time.Duration(days) * Day)
}

// FormatDuration writes a duration as Prometheus does, in days, hours, minutes and seconds without the zeros: 3d, 2h30s, 0s. What is less than a second is left out.
func FormatDuration(d time.Duration) string {
	var b strings.Builder
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{Day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / unit.length; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit.name)
			d %= unit.length
		}
	}
	if b.Len() == 0 {
		return "0s"
	}
	return b.String()
}
