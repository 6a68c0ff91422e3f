package deploy

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// composeSchema returns the path of the schema of compose files, in the module of the program that reads them.
func composeSchema(t testing.TB) string {
	t.Helper()
	return filepath.Join(moduleFolder(t, "testdata/strict/go.mod", "github.com/compose-spec/compose-go/v2"), "schema", "compose-spec.json")
}

// interpolated returns an environment as compose fills it in by env.example, with passwords.
func interpolated(t testing.TB, environment map[string]string) map[string]string {
	t.Helper()
	example := make(map[string]string)
	for line := range strings.Lines(readFile(t, "env.example") + "POSTGRES_PASSWORD=secret\nREDIS_PASSWORD=secret\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		example[name] = value
	}
	filled := make(map[string]string)
	for name, value := range environment {
		filled[name] = regexp.MustCompile(`\$\{(\w+):(?:-([^}]*)|\?[^}]*)\}`).ReplaceAllStringFunc(value, func(v string) string {
			name, otherwise, _ := strings.Cut(strings.Trim(v, "${}"), ":")
			if otherwise, ok := strings.CutPrefix(otherwise, "-"); ok {
				return cmp.Or(example[name], otherwise)
			}
			return cmp.Or(example[name], "not set")
		})
	}
	return filled
}

// Both compositions are by the letter of the specification, and set what limnomap knows.
func TestCompositions(t *testing.T) {
	s := schema(t, composeSchema(t), "")
	for _, name := range []string{"compose.yaml", "compose.replicated.yaml"} {
		document := documents(t, name)[0]
		if err := s.Validate(any(document)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var known map[string]any
		into(t, document, &known)
		known["services"].(map[string]any)["limnomap-3"] = map[string]any{"imagine": "limnomap"}
		if s.Validate(any(known)) == nil {
			t.Errorf("%s: a field that nobody knows is let through", name)
		}
		text := readFile(t, name)
		wantVariables(t, name, text, "serve")
		var services struct {
			Services map[string]struct{ Environment map[string]string }
		}
		into(t, document, &services)
		for service, s := range services.Services {
			if strings.HasPrefix(service, "limnomap") {
				wantAccepted(t, name+" "+service, interpolated(t, s.Environment), "serve")
			}
		}
		for _, m := range regexp.MustCompile(`\./[\w./-]+`).FindAllString(text, -1) { // what is mounted
			if _, err := os.Stat(m); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, m := range regexp.MustCompile(`image: (\S+)`).FindAllStringSubmatch(text, -1) {
			if m[1] != "limnomap" && (!strings.Contains(m[1], ":") || strings.HasSuffix(m[1], ":latest")) {
				t.Errorf("%s: image %s has no version", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`stop_grace_period: (\w+)`).FindAllStringSubmatch(text, -1) {
			if duration(t, m[1]) <= stopping(t) {
				t.Errorf("%s: %s cuts off requests", name, m[0])
			}
		}
	}
}

// The Prometheus of the composition of one server goes by the rules of deploy/prometheus, and asks where metrics are.
func TestCompositionPrometheus(t *testing.T) {
	limnomaptest.Need(t, "promtool")
	var c struct {
		Services struct {
			Limnomap struct{ Environment map[string]string }
		}
		Configs struct {
			Prometheus struct{ Content string }
		}
	}
	into(t, documents(t, "compose.yaml")[0], &c)
	rules, err := filepath.Abs("prometheus")
	if err != nil {
		t.Fatal(err)
	}
	conf := strings.ReplaceAll(c.Configs.Prometheus.Content, "/etc/prometheus/", rules+"/")
	out := output(t, "promtool", "check", "config", limnomaptest.WriteFile(t, t.TempDir(), "prometheus.yml", conf))
	if strings.Count(out, "rules found") != 2 {
		t.Errorf("promtool check config says:\n%s", out)
	}
	if listen := c.Services.Limnomap.Environment["LIMNOMAP_ADMIN_LISTEN"]; !strings.Contains(conf, `["limnomap`+listen+`"]`) {
		t.Errorf("metrics are at %s, and Prometheus asks by\n%s", listen, conf)
	}
}
