//go:build long

package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestExampleInR(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "Rscript")
	t.Log(mustRun(t, "Rscript", "-e", "cat(R.version.string)"))
	server := limnomaptest.Start(t, "--db", makeScriptLakes(t), "--api-rate", "0")
	checkR(t, startRecorder(t, server.Base))
}

func checkR(t *testing.T, front *recorder) {
	picture := filepath.Join(t.TempDir(), "history.png")
	front.failNext(shed)
	out, complaint, err := runScript(t, "Rscript", "examples/lakes.R", front.URL, "gappy", picture)
	if err != nil || complaint != "" {
		t.Fatalf("%v\n%s", err, complaint)
	}
	if want := "CLOSED by an official statement: never zero \n"; !strings.Contains(out, want) {
		t.Errorf("lakes.R prints\n%s\nwant %q", out, want)
	}
	lakes := readLakes(t, front.URL)
	lines := slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool { return strings.HasPrefix(line, "CLOSED") })
	for _, lake := range lakes {
		at := slices.IndexFunc(lines, func(line string) bool { return slices.Contains(strings.Fields(line), lake.ID) })
		switch {
		case at < 0:
			t.Errorf("lakes.R does not name %s", lake.ID)
		case lake.Chl == nil && !strings.HasPrefix(lines[at], "without a current value:"):
			t.Errorf("lakes.R says %q of %s, which has no value", lines[at], lake.ID)
		case lake.Chl != nil && !slices.Equal(strings.Fields(lines[at]), strings.Fields(fmt.Sprint(lake.ID, " ", lake.official(), " ", chlText(lake.Chl), " ", lake.Risk, " ", lake.MeasuredAt.Format(time.RFC3339)))):
			t.Errorf("lakes.R says %q of %+v", lines[at], lake)
		}
	}
	values, gaps, samples, forecasts := 0, 0, 0, 0
	for _, entry := range readHistory(t, front.URL, "gappy") {
		switch {
		case entry.DataType == "ai_forecast":
			forecasts++
		case entry.DataType == "in_situ":
			samples++
		case entry.Chl == nil:
			gaps++
		default:
			values++
		}
	}
	if want := fmt.Sprintf("gappy has %d values, %d gaps, %d samples and %d forecasts", values, gaps, samples, forecasts); gaps != gapTo-gapFrom || samples != 1 || !slices.Contains(lines, want) {
		t.Errorf("lakes.R prints\n%s\nwant %q", out, want)
	}
	content, err := os.ReadFile(picture)
	must(t, err)
	decodePNG(t, content)

	if out, complaint, err := runScript(t, "Rscript", "examples/lakes.R", front.URL, "never", picture); err != nil || complaint != "" || !strings.Contains(out, "never had a value") {
		t.Errorf("of a lake without observations: %v\n%s\n%s", err, out, complaint)
	}
	if _, complaint, err := runScript(t, "Rscript", "examples/lakes.R", front.URL, "nowhere", picture); err == nil || !strings.Contains(complaint, "404 Not Found") {
		t.Errorf("of a lake that is not there: %v\n%s", err, complaint)
	}
}
