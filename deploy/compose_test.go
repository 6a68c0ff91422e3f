package deploy

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// composeSchema returns the path of the schema of compose files, from the module of Docker Compose.
func composeSchema(t testing.TB) string {
	t.Helper()
	return filepath.Join(moduleFolder(t, "testdata/strict/go.mod", "github.com/compose-spec/compose-go/v2"), "schema", "compose-spec.json")
}

// interpolated returns an environment in which Compose has replaced the variables, with the values of env.example and passwords.
func interpolated(t testing.TB, environment map[string]string) map[string]string {
	t.Helper()
	example := make(map[string]string)
	for line := range strings.Lines(readFile(t, "env.example") + "POSTGRES_PASSWORD=secret\nREDIS_PASSWORD=secret\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		example[name] = value
	}
	variable := regexp.MustCompile(`\$\{(\w+)(?:(:?-)([^}]*)|:\?[^}]*)\}`)
	filled := make(map[string]string)
	for name, value := range environment {
		filled[name] = variable.ReplaceAllStringFunc(value, func(v string) string {
			m := variable.FindStringSubmatch(v)
			set, ok := example[m[1]]
			switch {
			case set != "" || ok && m[2] == "-": // without the colon an empty value is kept
				return set
			case m[2] != "":
				return m[3]
			}
			return "not set"
		})
	}
	return filled
}

// Both compose files follow the specification and set only variables that limnomap knows.
func TestComposeFiles(t *testing.T) {
	t.Parallel()
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
			t.Errorf("%s: an unknown field is accepted", name)
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
		for _, m := range regexp.MustCompile(`\./[\w./-]+`).FindAllString(text, -1) { // mounted files
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

// The replicas have the same settings, trust only their proxy, and write only to their cache and to /tmp.
func TestComposedReplicas(t *testing.T) {
	t.Parallel()
	var c struct {
		Services map[string]struct {
			Environment map[string]string
			Networks    any // names, or settings by name
			Volumes     []string
			Tmpfs       []string
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
		if !service.ReadOnly || len(service.Volumes) != 1 || !strings.HasSuffix(service.Volumes[0], ":/cache") || len(service.Tmpfs) != 1 || !strings.HasPrefix(service.Tmpfs[0], "/tmp:") {
			t.Errorf("%s does not write to exactly its cache and /tmp: %+v", name, service)
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
	must(t, err)
	nginx, _ := c.Services["nginx"].Networks.(map[string]any)
	front, _ := nginx["front"].(map[string]any)
	if at, _ := front["ipv4_address"].(string); trusted.String() != at+"/32" {
		t.Errorf("nginx is at %q, and the servers trust %v", at, trusted)
	}
	if subnet := c.Networks["front"].IPAM.Config[0].Subnet; !subnet.Contains(trusted.Addr()) {
		t.Errorf("nginx's address %v is not in %v", trusted.Addr(), subnet)
	}
}

// env.example has each setting that the compose files leave open, and no password.
func TestComposeSettings(t *testing.T) {
	t.Parallel()
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

// The Prometheus of each compose file reads its configuration from deploy/prometheus, since Docker adds no other files to a
// read-only container, and scrapes the right address. promtool checks the content of the files.
func TestComposedPrometheus(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]string{"compose.yaml": "limnomap", "compose.replicated.yaml": "limnomap-1"} {
		var c struct {
			Services map[string]struct {
				Environment map[string]string
				Command     []string
				Configs     []any
				Volumes     []string
				ReadOnly    bool `yaml:"read_only"`
			}
		}
		into(t, documents(t, name)[0], &c)
		for service, s := range c.Services {
			if s.ReadOnly && len(s.Configs) > 0 {
				t.Errorf("%s: %s is read-only, and could not be given its configs", name, service)
			}
		}
		prometheus := c.Services["prometheus"]
		const folder = "/etc/prometheus/"
		file, ok := strings.CutPrefix(prometheus.Command[0], "--config.file="+folder)
		if !ok || !slices.Contains(prometheus.Volumes, "./prometheus:/etc/prometheus:ro") {
			t.Errorf("%s: Prometheus has the command %s and the volumes %q", name, prometheus.Command, prometheus.Volumes)
		}
		listen := c.Services[server].Environment["LIMNOMAP_ADMIN_LISTEN"]
		if conf := readFile(t, "prometheus/"+file); listen == "" || !strings.Contains(conf, `"`+server+listen+`"`) {
			t.Errorf("%s: metrics are at %q of %s, and Prometheus asks by\n%s", name, listen, server, conf)
		}
	}
}

// The single server trusts a proxy on this machine, whose requests come from the gateway.
func TestComposedServerTrustsItsGateway(t *testing.T) {
	t.Parallel()
	var c struct {
		Services map[string]struct{ Environment map[string]string }
		Networks struct {
			Default struct {
				IPAM struct {
					Config []struct{ Subnet, Gateway string }
				}
			}
		}
	}
	into(t, documents(t, "compose.yaml")[0], &c)
	networks := c.Networks.Default.IPAM.Config
	if len(networks) != 1 {
		t.Fatalf("the network has %d ranges of addresses, want one", len(networks))
	}
	gateway, err := netip.ParseAddr(networks[0].Gateway)
	if subnet := netip.MustParsePrefix(networks[0].Subnet); err != nil || !subnet.Contains(gateway) {
		t.Errorf("the gateway is %s, %v, of the network %v", gateway, err, subnet)
	}
	environment := c.Services["limnomap"].Environment
	if got, want := interpolated(t, environment)["LIMNOMAP_TRUSTED_PROXIES"], gateway.String()+"/32"; got != want || !strings.Contains(environment["LIMNOMAP_TRUSTED_PROXIES"], "-"+want+"}") {
		t.Errorf("the server trusts %s, and by itself as %s says; want %s for both", got, environment["LIMNOMAP_TRUSTED_PROXIES"], want)
	}
}
