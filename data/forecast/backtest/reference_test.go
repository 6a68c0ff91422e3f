package backtest_test

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/data/forecast/backtest"
	"limnomap/data/forecast/forecasttest"
)

// scored reports whether the reference scores a lake.
func scored(l *forecasttest.Lake) bool {
	year := func(day int) int { return time.Unix(int64(day)*86400, 0).UTC().Year() }
	last := year(l.Values[len(l.Values)-1].Day)
	late, early := 0, map[int]bool{}
	for _, v := range l.Values {
		if y := year(v.Day); y > last-3 {
			late++
		} else {
			early[y] = true
		}
	}
	return len(l.Values) >= 75 && late >= 10 && len(early) >= 5
}

func scoresOf(lakes []*forecasttest.Lake) *backtest.Scores {
	s := backtest.New(backtest.Classes{Limits: [2]float64{10, 50}, Above: true})
	for _, l := range lakes {
		s.Add(s.Evaluate(backtest.Pairs(l.Latitude, l.Values, 3)))
	}
	return s
}

// columns are those of the reference.
func columns(r backtest.Row) []float64 {
	return []float64{
		r.RMSE, r.MAE, r.Pinball, r.Bias, r.Coverage, r.Width, r.Brier[0], r.Brier[1], r.AUC[0], r.AUC[1],
		r.RightClass, r.BeatsPersistence, r.ClearlyWorse,
	}
}

func logTable(t *testing.T, title string, s *backtest.Scores) {
	t.Logf("%-15srmse     mae pinball    bias   cov80   width brier10 brier50   auc10   auc50    acc3   beats   worse    crps  factor", title)
	for week := range backtest.Weeks + 1 {
		for m := range backtest.Method(backtest.Methods) {
			r := s.Row(week, m)
			line := fmt.Sprintf("%d %-11s", week, m)
			for _, x := range append(columns(r), r.CRPS, r.MedianFactor) {
				line += fmt.Sprintf(" %7.4f", x)
			}
			t.Logf("%s  %d pairs, %d lakes", line, r.Pairs, r.Lakes)
		}
	}
}

func TestReference(t *testing.T) {
	all := forecasttest.Lakes(t)
	lakes := slices.DeleteFunc(slices.Clone(all), func(l *forecasttest.Lake) bool { return !l.Even() || !scored(l) })
	s := scoresOf(lakes)
	logTable(t, "even lakes", s)
	logTable(t, "all lakes", scoresOf(all))
	if err := s.Check(); err != nil {
		t.Error(err)
	}

	// How far columns may be from the reference, which prints four decimals. Not given: not compared.
	const digits = 0.000051 + 0.0001 // it counts probabilities otherwise, and lets two pairs fall on the other side of a limit
	one := 1.5 / 2444                // pair
	tolerance := map[string][]float64{
		"reference":   {digits, digits, digits, digits, digits, digits, digits, digits, digits, digits, digits, digits, digits},
		"persistence": {digits, digits, 0.003, digits, 0.015, 0.07, 0.001, 0.001, 0.0015, 0.0015, 3 * one, digits, digits},
		"climatology": {digits, digits, 0.001, 0.0003, 0.015, 0.07, 0.001, 0.001, 0.0015, 0.0015, one, digits, digits},
		"AR(1)":       {0.002, 0.001, 0.003, 0.0005, 0.015, 0.07, 0.001, 0.001, 0.0015, 0.0015, 0.006, 0.012, digits},
	}
	methods := map[string]backtest.Method{
		"reference": backtest.Model, "persistence": backtest.Persistence, "climatology": backtest.Climatology, "AR(1)": backtest.AR1,
	}
	week, rows := 0, 0
	lines := bufio.NewScanner(forecasttest.Open(t, "forecast/global.even.txt"))
	for lines.Scan() {
		line := lines.Text()
		var pairs, n int
		if _, err := fmt.Sscanf(line, "-- week %d: %d pairs, %d lakes", &week, &pairs, &n); err == nil {
			if r := s.Row(week, backtest.Model); r.Pairs != pairs || r.Lakes != n {
				t.Errorf("%s: %d pairs, %d lakes", line, r.Pairs, r.Lakes)
			}
			continue
		}
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "-- week 1-4") {
			break
		}
		m, ok := methods[fields[0]]
		if !ok {
			continue
		}
		rows++
		for i, got := range columns(s.Row(week, m)) {
			want, err := strconv.ParseFloat(fields[i+1], 64)
			if err != nil {
				t.Fatal(err)
			}
			if most := tolerance[fields[0]][i]; !(math.Abs(got-want) <= most) {
				t.Errorf("week %d, %s, column %d: %.5f, want %.4f", week, m, i, got, want)
			}
		}
	}
	if rows != 16 {
		t.Errorf("%d rows were compared", rows)
	}
}
