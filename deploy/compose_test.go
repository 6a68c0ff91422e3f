package deploy

import (
	"cmp"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// The servers of the composition of replicas are alike, believe their proxy alone, and write to their cache and /tmp alone.
func TestReplicas(t *testing.T) {
	var c struct {
		Services map[string]struct {
			Environment map[string]string
			Networks    any // names, or settings by name
			Volumes     []string
			ReadOnly    bool `json:"read_only"`
		}
		Networks map[string]struct {
			IPAM struct {
				Config []struct{ Subnet netip.Prefix }
			}
		}
		Volumes map[string]any
	}
	into(t, documents(t, "compose.replicated.yaml")[0], &c)
	var replicas []string
	for name, service := range c.Services {
		if !strings.HasPrefix(name, "limnomap-") {
			continue
		}
		replicas = append(replicas, name+":8080") // where the image listens
		if first := c.Services["limnomap-1"].Environment; !maps.Equal(service.Environment, first) {
			t.Errorf("%s has %v, limnomap-1 %v", name, service.Environment, first)
		}
		if !service.ReadOnly || len(service.Volumes) != 2 || !strings.HasSuffix(service.Volumes[0], ":/cache") || service.Volumes[1] != "/tmp" {
			t.Errorf("%s writes elsewhere than to its cache and /tmp, or not there: %+v", name, service)
		}
		volume, _, _ := strings.Cut(service.Volumes[0], ":")
		if _, ok := c.Volumes[volume]; !ok {
			t.Errorf("%s: there is no volume %s", name, volume)
		}
	}
	slices.Sort(replicas)
	var upstreams []string
	for _, m := range regexp.MustCompile(`(?m)^\s+server (\S+:\d+)[ ;]`).FindAllStringSubmatch(readFile(t, "nginx.conf"), -1) {
		upstreams = append(upstreams, m[1])
	}
	if len(replicas) != 2 || !slices.Equal(upstreams, replicas) {
		t.Errorf("nginx passes on to %q, the servers are %q, want two", upstreams, replicas)
	}
	trusted, err := netip.ParsePrefix(c.Services["limnomap-1"].Environment["LIMNOMAP_TRUSTED_PROXIES"])
	if err != nil {
		t.Fatal(err)
	}
	nginx, _ := c.Services["nginx"].Networks.(map[string]any)
	front, _ := nginx["front"].(map[string]any)
	if at, _ := front["ipv4_address"].(string); trusted.String() != at+"/32" {
		t.Errorf("nginx is at %q, and the servers trust %v", at, trusted)
	}
	if subnet := c.Networks["front"].IPAM.Config[0].Subnet; !subnet.Contains(trusted.Addr()) {
		t.Errorf("nginx's address %v is not in %v", trusted.Addr(), subnet)
	}
}

// What the compositions leave to whoever runs them is in the example for their settings, without a password in it.
func TestComposeSettings(t *testing.T) {
	example := readFile(t, "env.example")
	for _, name := range []string{"compose.yaml", "compose.replicated.yaml"} {
		for _, m := range regexp.MustCompile(`\$\{(\w+)`).FindAllStringSubmatch(readFile(t, name), -1) {
			line := regexp.MustCompile(`(?m)^` + m[1] + `=(.*)$`).FindStringSubmatch(example)
			if line == nil {
				t.Errorf("env.example does not have %s of %s", m[1], name)
			} else if strings.HasSuffix(m[1], "PASSWORD") && line[1] != "" {
				t.Errorf("env.example has a value for %s", m[1])
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
