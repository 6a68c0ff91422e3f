//go:build long

package statistics

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/testsize"
)

// pandas is the Python of Debian, which has pandas, numpy and scipy as packages; another one that comes first in the path may have none.
const pandas = "/usr/bin/python3"

// All that is said of the season, of years, of a value and of one month's trend is what pandas, numpy and scipy say: with their functions for quantiles, percentiles,
// classes, weeks, Kendall's tau and the slope of Theil and Sen.
func TestEqualsPandas(t *testing.T) {
	if exec.CommandContext(t.Context(), pandas, "-c", "import pandas, scipy.stats").Run() != nil {
		testsize.LeaveOut(t, "pandas and scipy are not installed")
	}
	all := compared()
	names := slices.Sorted(maps.Keys(all))
	command := []string{"testdata/statistics.py"}
	for _, name := range names {
		command = append(command, tableOf(t, all[name]))
	}
	out, err := exec.CommandContext(t.Context(), pandas, command...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, want := range strings.Split(strings.TrimSuffix(string(out), "\n\n"), "\n\n") {
		if got := documentOfPandas(all[names[i]]); got != want+"\n" {
			t.Errorf("%s:\n%s\npandas says\n%s", names[i], got, want)
		}
	}
}

// documentOfPandas returns the statistics in the lines of testdata/statistics.py.
func documentOfPandas(values []Value) string {
	var b strings.Builder
	for line := range strings.Lines(document(values)) {
		if strings.HasPrefix(line, "band ") {
			b.WriteString(line)
		}
	}
	profile := data.Profiles()[0]
	for _, y := range YearsOf(values, &profile, data.MaxDate-1) {
		fmt.Fprintf(&b, "year %d %d %.10g %.10g %.10g %s %s %d %d %d %d %d %d %s %s %d\n", y.Year, y.Values, y.Mean, y.Median, y.Max, y.MaxDate, y.Trophic,
			y.Weeks[0], y.Weeks[1], y.Weeks[2], y.Days[0], y.Days[1], y.Days[2], y.Onset, y.End, y.Length())
	}
	for i := 0; i < len(values); i += 37 {
		if p, ok := PlaceOf(values, values[i]); ok {
			fmt.Fprintf(&b, "place %s %.10g %d %d %d\n", values[i].Date, p.Percent, p.Years, p.Lower, p.Higher)
		}
	}
	if trend, ok := TrendOf(inJuly(values)); ok {
		fmt.Fprintf(&b, "july %.10g %d\n", trend.Slope, trend.S)
	}
	return b.String()
}
