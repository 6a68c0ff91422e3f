package deploy

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oasdiff/yaml"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A dashboard has the fields of a Grafana dashboard that the tests read.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct {
			Name, Type, AllValue string
			Query                any
			Datasource           source
		}
	}
	Annotations struct {
		List []struct {
			Name, Expr string
			Datasource source
		}
	}
}

type source struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               source
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                source
	}
	FieldConfig struct {
		Defaults struct{ Unit, NoValue string }
	}
	Panels []panel // of a collapsed row
}

func readDashboard(t testing.TB) (d dashboard) {
	t.Helper()
	text, err := os.ReadFile("grafana/limnomap.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

var labelValues = regexp.MustCompile(`^label_values\((.+), *(\w+)\)$`)

// fill replaces the variables of an expression as Grafana does for "All": all jobs and all servers.
func (d *dashboard) fill(t testing.TB, expr string) string {
	t.Helper()
	expr = strings.ReplaceAll(expr, "$__rate_interval", "1m")
	for _, v := range d.Templating.List {
		if v.AllValue != "" {
			expr = strings.ReplaceAll(expr, "$"+v.Name, v.AllValue)
		}
	}
	if strings.Contains(expr, "$") {
		t.Errorf("%s: unknown variable", expr)
	}
	return expr
}

// expressions returns all queries of the dashboard.
func (d *dashboard) expressions(t testing.TB) (all []string) {
	t.Helper()
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		query, _ := v.Query.(map[string]any)
		text, _ := query["query"].(string)
		m := labelValues.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("variable %s: %q is not label_values(SERIES, LABEL)", v.Name, text)
		}
		all = append(all, "count by ("+m[2]+") ("+m[1]+")")
	}
	for _, a := range d.Annotations.List {
		all = append(all, a.Expr)
	}
	for i, expr := range all {
		all[i] = d.fill(t, expr)
	}
	return all
}

// The dashboard has rows and panels with a description and a unit, uses only its own data source, and no panels overlap.
func TestDashboard(t *testing.T) {
	t.Parallel()
	d := readDashboard(t)
	if d.UID == "" || d.SchemaVersion < 39 {
		t.Errorf("uid %q, schema %d, want one and 39 (Grafana 10.4) or more", d.UID, d.SchemaVersion)
	}
	var rows []string
	taken, ids := make(map[[2]int]string), make(map[int]string)
	for _, p := range d.Panels {
		if other, ok := ids[p.ID]; ok {
			t.Errorf("%s and %s have one id", p.Title, other)
		}
		ids[p.ID] = p.Title
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, ok := taken[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%s lies on %q at column %d of 24", p.Title, other, x)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
			if len(p.Panels) > 0 {
				t.Errorf("row %s holds panels, which are not looked at", p.Title)
			}
			continue
		}
		if p.Title == "" || !strings.HasSuffix(p.Description, ".") || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("panel %d %q: description %q, unit %q, %d questions, data source %q",
				p.ID, p.Title, p.Description, p.FieldConfig.Defaults.Unit, len(p.Targets), p.Datasource.UID)
		}
		for _, target := range p.Targets {
			if target.Datasource == (source{}) {
				target.Datasource = p.Datasource // Grafana sends a query without a data source to the panel's
			}
			chosen := strings.Count(target.Expr, `{job=~"$job",instance=~"$instance"`)
			if target.LegendFormat == "" || target.Datasource.UID != "${datasource}" || chosen == 0 || chosen != strings.Count(target.Expr, "{") {
				t.Errorf("panel %s, %s: legend %q, data source %q, question %q", p.Title, target.RefID, target.LegendFormat, target.Datasource.UID, target.Expr)
			}
		}
	}
	if want := []string{"Traffic", "Tiles and caches", "Rendering", "Data freshness", "Limits", "Process"}; !slices.Equal(rows, want) {
		t.Errorf("rows %q, want %q", rows, want)
	}
	_, alerts := prometheusRules(t)
	for _, p := range d.Panels {
		for _, name := range regexp.MustCompile(`Limnomap\w+`).FindAllString(p.Description, -1) {
			if !slices.ContainsFunc(alerts, func(r rule) bool { return r.Alert == name }) {
				t.Errorf("panel %s tells of the alert %s, which is none", p.Title, name)
			}
		}
	}
}

// The provisioning of Grafana uses the data source type of the dashboard.
func TestGrafanaProvisioning(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"datasources/prometheus.yml", "dashboards/limnomap.yml"} {
		text, err := os.ReadFile(filepath.Join("grafana", "provisioning", name))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			APIVersion  int `json:"apiVersion"`
			Datasources []struct{ Name, Type, URL string }
			Providers   []struct {
				Name, Type string
				Options    struct{ Path string }
			}
		}
		if _, err := yaml.Unmarshal(text, &file, yaml.DecodeOpts{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if file.APIVersion != 1 || len(file.Datasources)+len(file.Providers) != 1 {
			t.Errorf("%s: version %d with %d data sources and %d providers", name, file.APIVersion, len(file.Datasources), len(file.Providers))
		}
		for _, d := range file.Datasources {
			if d.Type != "prometheus" || d.URL == "" {
				t.Errorf("%s: %+v", name, d)
			}
		}
		for _, p := range file.Providers {
			if p.Type != "file" || p.Options.Path == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

// A real Prometheus that scrapes a real server answers all queries of the dashboard, the rules and the alerts, with its
// default settings and with native histograms, which replace the classic buckets. No alert fires for a healthy server. The
// metrics have no problems, and docs/monitoring.md lists them all.
func TestDashboardAndRulesAreAnswered(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "prometheus", "redis-server")
	server := monitoredServer(t)
	classic := startPrometheus(t, server.Admin)
	native := startPrometheus(t, server.Admin, "--enable-feature=native-histograms")
	v := visitorOf(t, server)
	recording, alerts := prometheusRules(t)

	d := readDashboard(t)
	for _, p := range []*prometheusServer{classic, native} {
		wantIdle(t, p, &d)
	}
	questions := d.expressions(t)
	for _, r := range recording {
		questions = append(questions, r.Record)
	}
	pending := map[*prometheusServer][]string{
		classic: slices.Concat(metricsAsked(recording, alerts), valuesAsked(questions, recording, alerts), questions),
		native: append(slices.Clone(questions), `histogram_count(limnomap_http_request_duration_seconds{route="tile"}) > 0`,
			`histogram_quantile(0.99, sum by (route) (rate(limnomap_http_request_duration_seconds{route="tile"}[1m])))`,
			`histogram_quantile(0.5, sum(rate(limnomap_tile_render_duration_seconds[1m])))`),
	}
	var faults error
	for round, end := 0, time.Now().Add(patience); time.Now().Before(end); round++ {
		v.visit(t, round)
		faults = nil
		for p, left := range pending {
			pending[p] = slices.DeleteFunc(left, func(expr string) bool {
				err := p.answered(expr)
				faults = errors.Join(faults, err)
				return err == nil
			})
		}
		if faults == nil {
			break
		}
		time.Sleep(250 * time.Millisecond) // between polls: there is a scrape each second
	}
	if faults != nil {
		t.Errorf("queries without an answer:\n%v", faults)
	}
	wantExposition(t, server)
	if values, err := native.values("limnomap_http_request_duration_seconds_bucket"); err != nil || len(values) > 0 {
		t.Errorf("with native histograms: %d classic buckets, %v; want none, or the second run shows nothing", len(values), err)
	}
	for _, p := range []*prometheusServer{classic, native} {
		wantRulesHealthy(t, p, len(recording)+len(alerts))
		// Each Prometheus also scrapes itself, as another job.
		if values, err := p.values(d.fill(t, `sum(up{job=~"$job",instance=~"$instance"})`)); err != nil || !slices.Equal(values, []float64{1}) {
			t.Errorf("with all jobs chosen the dashboard is of %v servers, %v; want only limnomap, 1", values, err)
		}
	}
	t.Logf("%d queries, each sent to two Prometheus servers", len(questions))
}

// wantIdle fails the test if a panel shows NaN or infinity for an idle server, or shows nothing without a noValue text.
func wantIdle(t *testing.T, p *prometheusServer, d *dashboard) {
	t.Helper()
	limnomaptest.Within(t, patience, "Prometheus has scraped the server twice", func() bool {
		return p.answered(`rate(limnomap_http_requests_total{job="limnomap"}[1m])`) == nil
	})
	for _, panel := range d.Panels {
		shown := len(panel.Targets) == 0
		for _, target := range panel.Targets {
			values, err := p.values(d.fill(t, target.Expr))
			if err != nil || slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
				t.Errorf("panel %s shows %v, %v for an idle server", panel.Title, values, err)
			}
			shown = shown || len(values) > 0
		}
		if !shown && panel.FieldConfig.Defaults.NoValue == "" {
			t.Errorf("panel %s shows nothing for an idle server, and has no noValue", panel.Title)
		}
	}
}

// metricName matches the name of a metric in an expression.
var metricName = regexp.MustCompile(`\b(?:limnomap|go|process|job|job_route|job_instance)[_:][a-z0-9_:]+\b`)

// metricsAsked returns each metric in rules and alerts: an alert on a metric that does not exist would never fire.
func metricsAsked(rules ...[]rule) (names []string) {
	for _, r := range slices.Concat(rules...) {
		for _, name := range metricName.FindAllString(r.Expr, -1) {
			// These exist only as native histograms, which the other Prometheus has.
			if name != "limnomap_http_request_duration_seconds" && name != "limnomap_tile_render_duration_seconds" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var (
	selector = regexp.MustCompile(`([a-z_:0-9]+)\{([^}]*)\}`)
	matcher  = regexp.MustCompile(`(\w+)(?:=~|!~|=|!=)"([^"]*)"`)
)

// valuesAsked returns a query for each label value in a selector: with a value that no series has, an alert would never fire
// and a panel would always show 0.
func valuesAsked(exprs []string, rules ...[]rule) (questions []string) {
	for _, r := range slices.Concat(rules...) {
		exprs = append(exprs, r.Expr)
	}
	for _, expr := range exprs {
		for _, s := range selector.FindAllStringSubmatch(expr, -1) {
			name := s[1]
			if strings.Contains(name, ":") || strings.HasPrefix(name, "limnomap_http_request_duration_seconds") {
				name = "limnomap_http_requests_total" // a recorded metric has the same routes; a histogram may be native
			}
			for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
				if m[1] == "job" || m[1] == "instance" || m[1] == "quantile" {
					continue // labels of Prometheus, and those whose form depends on its version
				}
				for value := range strings.SplitSeq(m[2], "|") {
					if value != "metrics" { // only a route without an admin listener
						questions = append(questions, "count("+name+"{"+m[1]+`=~"`+value+`"})`)
					}
				}
			}
		}
	}
	slices.Sort(questions)
	return slices.Compact(questions)
}

// wantRulesHealthy fails the test if one of the rules could not be evaluated, or an alert fires or is pending. Two are
// expected, since the visitor was refused often.
func wantRulesHealthy(t *testing.T, p *prometheusServer, want int) {
	t.Helper()
	var data struct {
		Groups []struct {
			Rules []struct{ Name, Health, State, LastError string }
		}
	}
	n := 0
	limnomaptest.Within(t, patience, "all rules were evaluated", func() bool {
		if err := p.get("/api/v1/rules", &data); err != nil {
			t.Fatal(err)
		}
		n = 0
		for _, group := range data.Groups {
			for _, r := range group.Rules {
				if r.Health == "unknown" {
					return false
				}
				n++
			}
		}
		return true
	})
	if n != want {
		t.Errorf("Prometheus has %d rules, want %d", n, want)
	}
	for _, group := range data.Groups {
		for _, r := range group.Rules {
			wary := r.Name == "LimnomapRateLimited" || r.Name == "LimnomapKeysGuessed"
			if r.Health != "ok" || r.State == "firing" || r.State == "pending" && !wary {
				t.Errorf("%s is %s, %s: %s", r.Name, r.Health, r.State, r.LastError)
			}
		}
	}
}
