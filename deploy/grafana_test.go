package deploy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
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
	must(t, err)
	must(t, json.Unmarshal(text, &d))
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
		must(t, err)
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
