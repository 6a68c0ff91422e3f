package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
)

// A ruleFile has the fields of a rule file that the tests read.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

// A rule records a metric or raises an alert.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

// A ruleTests has the fields of a promtool test file that the tests read.
type ruleTests struct {
	Tests []struct {
		PromQLExprTest []struct {
			Expr       string
			ExpSamples []struct{ Labels string } `json:"exp_samples"`
		} `json:"promql_expr_test"`
	}
}

func readYAML(t testing.TB, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	if _, err := yaml.Unmarshal(text, into, yaml.DecodeOpts{}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// prometheusRules returns the recording rules and the alerts.
func prometheusRules(t testing.TB) (recording, alerts []rule) {
	t.Helper()
	for _, name := range []string{"limnomap.rules.yml", "limnomap.alerts.yml"} {
		var file ruleFile
		readYAML(t, filepath.Join("prometheus", name), &file)
		for _, group := range file.Groups {
			for _, r := range group.Rules {
				if r.Record != "" {
					recording = append(recording, r)
				} else {
					alerts = append(alerts, r)
				}
			}
		}
	}
	if len(recording) == 0 || len(alerts) == 0 {
		t.Fatalf("%d recording rules and %d alerts were read", len(recording), len(alerts))
	}
	return recording, alerts
}

var (
	testedAlert = regexp.MustCompile(`^ALERTS\{alertname="(\w+)",alertstate="firing"\}$`)
	usedLabel   = regexp.MustCompile(`\$labels\.(\w+)`)
)

// Each alert has a unit test in which it fires, with the labels that its texts use, and one in which it does not.
func TestEveryAlertHasUnitTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("prometheus/*_test.yml")
	must(t, err)
	fires, quiet := make(map[string]string), make(map[string]bool) // labels of a firing alert
	for _, name := range files {
		var file ruleTests
		readYAML(t, name, &file)
		for _, test := range file.Tests {
			for _, question := range test.PromQLExprTest {
				m := testedAlert.FindStringSubmatch(question.Expr)
				switch {
				case m == nil:
				case len(question.ExpSamples) == 0:
					quiet[m[1]] = true
				default:
					fires[m[1]] = question.ExpSamples[0].Labels
				}
			}
		}
	}
	_, alerts := prometheusRules(t)
	for _, alert := range alerts {
		if fires[alert.Alert] == "" || !quiet[alert.Alert] {
			t.Errorf("%s: a test in which it fires: %v, and one in which it does not: %v", alert.Alert, fires[alert.Alert] != "", quiet[alert.Alert])
		}
		for _, m := range usedLabel.FindAllStringSubmatch(alert.Annotations["summary"]+alert.Annotations["description"], -1) {
			if !strings.Contains(fires[alert.Alert], m[1]+`="`) {
				t.Errorf("%s uses the label %s, but does not have it when it fires: %s", alert.Alert, m[1], fires[alert.Alert])
			}
		}
	}
}

// Each alert has a severity, a summary, a description and a section in docs/monitoring.md, which has no other sections about
// alerts.
func TestAlertsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/monitoring.md")
	must(t, err)
	var sections, names []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (Limnomap\w+)$`).FindAllStringSubmatch(string(page), -1) {
		sections = append(sections, m[1])
	}
	_, alerts := prometheusRules(t)
	for _, alert := range alerts {
		names = append(names, alert.Alert)
		if severity := alert.Labels["severity"]; !slices.Contains([]string{"critical", "warning", "info"}, severity) {
			t.Errorf("%s: severity %q", alert.Alert, severity)
		}
		for _, annotation := range []string{"summary", "description"} {
			if alert.Annotations[annotation] == "" {
				t.Errorf("%s: no %s", alert.Alert, annotation)
			}
		}
		if want := "docs/monitoring.md#" + strings.ToLower(alert.Alert); alert.Annotations["runbook_url"] != want {
			t.Errorf("%s: runbook_url %q, want %q", alert.Alert, alert.Annotations["runbook_url"], want)
		}
	}
	slices.Sort(names)
	slices.Sort(sections)
	if !slices.Equal(names, sections) {
		t.Errorf("docs/monitoring.md has sections of\n%q\nand there are the alerts\n%q", sections, names)
	}
}
