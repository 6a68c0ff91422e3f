package deploy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"limnomap/cmd/limnomap/limnomaptest"
)

// protobufAccepted is the Accept header of a Prometheus with native histograms.
const protobufAccepted = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

// scrape returns all metrics of a server in the format of accept, parsed and as text.
func scrape(t *testing.T, s *limnomaptest.Server, accept string) (families map[string]*dto.MetricFamily, body []byte) {
	t.Helper()
	resp, body := limnomaptest.Get(t, s.Admin+"/metrics", "Accept", accept)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("/metrics: %s", resp.Status)
	}
	families = make(map[string]*dto.MetricFamily)
	decoder := expfmt.NewDecoder(bytes.NewReader(body), expfmt.ResponseFormat(resp.Header))
	for {
		family := new(dto.MetricFamily)
		if err := decoder.Decode(family); errors.Is(err, io.EOF) {
			return families, body
		} else if err != nil {
			t.Fatal(err)
		}
		families[family.GetName()] = family
	}
}

// wantExposition fails the test if promlint reports a problem, if metrics of the process are missing, or if a histogram is
// not also a native one.
func wantExposition(t *testing.T, s *limnomaptest.Server) {
	t.Helper()
	families, text := scrape(t, s, "text/plain")
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	must(t, err)
	for _, p := range problems {
		t.Errorf("promlint: %s: %s", p.Metric, p.Text)
	}
	for _, name := range []string{"go_goroutines", "go_gc_duration_seconds", "go_memstats_sys_bytes", "go_gc_gomemlimit_bytes",
		"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds"} {
		if families[name] == nil {
			t.Errorf("there is no %s", name)
		}
	}
	native, _ := scrape(t, s, protobufAccepted)
	histograms := 0
	for name, family := range families {
		if family.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		histograms++
		for _, m := range native[name].GetMetric() {
			if h := m.GetHistogram(); h.GetZeroThreshold() == 0 || len(h.GetBucket()) == 0 { // native histograms have a threshold
				t.Errorf("%s %v: threshold %v, %d classic buckets; want both kinds", name, m.GetLabel(), h.GetZeroThreshold(), len(h.GetBucket()))
			}
		}
	}
	if histograms == 0 {
		t.Error("there are no histograms")
	}
	wantMetricsTable(t, families)
}

// wantMetricsTable fails the test unless the table in docs/monitoring.md has exactly one row for each metric of ours, with
// its type and labels.
func wantMetricsTable(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	page, err := os.ReadFile("../docs/monitoring.md")
	must(t, err)
	rows := regexp.MustCompile("(?m)^\\| `limnomap_\\w+` \\|.*$").FindAllString(string(page), -1)
	var want []string
	for _, name := range slices.Sorted(maps.Keys(families)) {
		if strings.HasPrefix(name, "limnomap_") {
			want = append(want, metricRow(families[name]))
		}
	}
	for _, row := range want {
		if !slices.Contains(rows, row) {
			t.Errorf("docs/monitoring.md does not have the row\n%s", row)
		}
	}
	for _, row := range rows {
		if !slices.Contains(want, row) {
			t.Errorf("docs/monitoring.md has a row that differs from the exported metrics:\n%s", row)
		}
	}
	if !slices.IsSorted(rows) || len(slices.Compact(rows)) != len(want) {
		t.Errorf("docs/monitoring.md: %d rows, want %d, each once and in order", len(rows), len(want))
	}
}

func metricRow(family *dto.MetricFamily) string {
	labels := make(map[string]bool)
	for _, m := range family.GetMetric() {
		for _, label := range m.GetLabel() {
			labels["`"+label.GetName()+"`"] = true
		}
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |", family.GetName(), strings.ToLower(family.GetType().String()),
		strings.Join(slices.Sorted(maps.Keys(labels)), ", "), strings.ReplaceAll(family.GetHelp(), "|", "\\|"))
}
