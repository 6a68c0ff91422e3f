//go:build long

package deploy

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

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
		must(t, p.get("/api/v1/rules", &data))
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
