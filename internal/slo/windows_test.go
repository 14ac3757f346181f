// Tests of the windows table.
//
// SPDX-License-Identifier: Apache-2.0

package slo

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWindows(t *testing.T) {
	tests := map[string]struct{ burn, spent []string }{ // page quick, page slow, ticket quick, ticket slow
		"30d": {burn: []string{"72/5", "6", "3", "1"}, spent: []string{"1/50", "1/20", "1/10", "1/10"}},
		"28d": {burn: []string{"336/25", "28/5", "14/5", "14/15"}, spent: []string{"1/50", "1/20", "1/10", "1/10"}},
		"7d":  {burn: []string{"336/25", "7/2", "7/5", "1"}, spent: []string{"2/25", "1/8", "1/5", "3/7"}},
		"90d": {burn: []string{"72/5", "6", "3", "1"}, spent: []string{"1/150", "1/60", "1/30", "1/30"}},
	}
	if want := []string{"7d", "28d", "30d", "90d"}; !slices.Equal(Periods(), want) {
		t.Fatalf("there are windows for %v, want %v", Periods(), want)
	}
	for _, period := range Periods() {
		t.Run(period, func(t *testing.T) {
			w := windows(t, period)
			var burn, spent, names []string
			for _, tier := range w.Tiers {
				burn = append(burn, tier.Burn.RatString())
				spent = append(spent, tier.Spent(w.Period).RatString())
				names = append(names, tier.String()+" "+FormatDuration(tier.Long)+"/"+FormatDuration(tier.Short))
			}
			want := tests[period]
			if !slices.Equal(burn, want.burn) || !slices.Equal(spent, want.spent) {
				t.Errorf("burn %v spends %v, want %v and %v", burn, spent, want.burn, want.spent)
			}
			if want := "page quick 1h/5m, page slow 6h/30m, ticket quick 1d/2h, ticket slow 3d/6h"; strings.Join(names, ", ") != want {
				t.Errorf("got %s, want %s", names, want)
			}
		})
	}
}

// TestEveryLastingBurnAlerts: no period may have a budget that is overspent by a steady burn without a ticket.
func TestEveryLastingBurnAlerts(t *testing.T) {
	for _, period := range Periods() {
		w := windows(t, period)
		slowest := w.Tiers[len(w.Tiers)-1]
		if slowest.Burn.Cmp(big.NewRat(1, 1)) > 0 {
			t.Errorf("%s: a burn of %s alerts nobody", period, slowest.Burn)
		}
		for i, tier := range w.Tiers[1:] {
			if before := w.Tiers[i]; tier.Burn.Cmp(before.Burn) >= 0 || tier.Long <= before.Long || tier.Long%tier.Short != 0 {
				t.Errorf("%s: %s does not follow %s", period, tier, before)
			}
		}
	}
}

func TestWindowsOf(t *testing.T) {
	w := windows(t, "30d")
	pages, tickets := w.Of(Page), w.Of(Ticket)
	if len(pages) != 2 || pages[0].String() != "page quick" || pages[1].String() != "page slow" {
		t.Errorf("pages: %v", pages)
	}
	if len(tickets) != 2 || tickets[0].String() != "ticket quick" || tickets[1].String() != "ticket slow" {
		t.Errorf("tickets: %v", tickets)
	}
	if len(w.Tiers) != 4 || w.Tiers[0].Severity != Page {
		t.Errorf("the windows have changed: %v", w.Tiers)
	}
}

// TestThresholdIsExact: Sloth writes 14.4 * 0.0009999999999999432.
func TestThresholdIsExact(t *testing.T) {
	tests := map[string]struct{ period, objective, want string }{
		"99.9 of 30d":  {"30d", "99.9", "0.0144 0.006 0.003 0.001"},
		"99.99 of 30d": {"30d", "99.99", "0.00144 0.0006 0.0003 0.0001"},
		"99.95 of 30d": {"30d", "99.95", "0.0072 0.003 0.0015 0.0005"},
		"99.9 of 28d":  {"28d", "99.9", "0.01344 0.0056 0.0028 0.0009333333333333333"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, tier := range windows(t, test.period).Tiers {
				got = append(got, Decimal(tier.Threshold(objective(t, test.objective))))
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

func TestParsePeriodRefuses(t *testing.T) {
	// the last is 30 days more than 2^48, which is 30 days in a Duration
	for _, text := range []string{"", "d", "30", "30h", "d30", "29d", "-7d", "0d", "7.0d", "99999999999999999999d", "1000000d", "281474976710686d"} {
		if got, err := ParsePeriod(text); err == nil || !strings.Contains(err.Error(), "7d, 28d, 30d, 90d") {
			t.Errorf("%q: got %v and %v, want an error that names the periods", text, got, err)
		}
	}
}

func TestFormatDuration(t *testing.T) {
	tests := map[string]time.Duration{
		"0s": 0, "15s": 15 * time.Second, "5m": 5 * time.Minute, "1m30s": 90 * time.Second, "2h30s": 2*time.Hour + 30*time.Second,
		"1d": Day, "3d": 3 * Day, "2d2h": 50 * time.Hour, "1s": 1999 * time.Millisecond,
	}
	for want, d := range tests {
		if got := FormatDuration(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
}

func TestNamesOfNothing(t *testing.T) {
	if got := (Tier{}).String(); got != "unknown unknown" {
		t.Errorf("the zero tier is called %q", got)
	}
}

func windows(t testing.TB, period string) Windows {
	t.Helper()
	w, err := ParsePeriod(period)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
