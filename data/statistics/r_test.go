//go:build long

package statistics

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"limnomap/data/testsize"
)

// The season, the years and the trend are those of R, for made series with gaps and without.
func TestEqualsR(t *testing.T) {
	if _, err := exec.LookPath("Rscript"); err != nil {
		testsize.LeaveOut(t, "R is not installed")
	}
	for name, values := range compared() {
		if got, want := document(values), ofR(t, values); got != want {
			t.Errorf("%s:\n%s\nR says\n%s", name, got, want)
		}
	}
}

func ofR(t *testing.T, values []Value) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "Rscript", "--vanilla", "testdata/statistics.R", tableOf(t, values)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for i, f := range fields[1:] {
			var n float64
			if _, err := fmt.Sscan(f, &n); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			fields[i+1] = fmt.Sprintf("%.10g", n)
		}
		b.WriteString(strings.Join(fields, " ") + "\n")
	}
	return b.String()
}
