package main

import (
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"pgregory.net/rapid"

	"limnomap/cmd/limnomap/config"
	"limnomap/cmd/limnomap/limnomaptest"
)

// modelOf returns the commands and their flags.
func modelOf(t testing.TB) *kong.Application {
	t.Helper()
	inv, err := parsed(t, "version")
	mustDo(t, err)
	return inv.Command.Model
}

func parsed(t testing.TB, args ...string) (*invocation, error) {
	t.Helper()
	return parse(args, io.Discard, io.Discard)
}

// configured returns the name of a configuration file with that text.
func configured(t testing.TB, text string) string {
	t.Helper()
	return limnomaptest.WriteFile(t, t.TempDir(), "limnomap.yaml", text)
}

// valuesFor has values for flags of all types.
var valuesFor = map[string][]string{
	"listen":              {":8080", "[::1]:443", "localhost:0"},
	"admin-listen":        {"127.0.0.1:9090"},
	"admin-host":          {"metrics.example.org", "a.example,b.example"},
	"base-path":           {"/lakes", "/a/b.c/~d"},
	"public-url":          {"https://lakes.example.org/a"},
	"trusted-proxies":     {"10.0.0.0/8", "10.0.0.0/8,fd00::/8,192.0.2.1/32"},
	"cors-origins":        {"https://maps.example.org", "https://a.org,https://b.org:8443", "*"},
	"frame-ancestors":     {"*", "none", "self,https://*.example.org:8443"},
	"drain":               {"0s", "1h2m3.5s"},
	"profile":             {"who2021", "uba2015"},
	"stale-after":         {"7d", "48h"},
	"sample-prefer":       {"0d", "48h"},
	"weeks":               {"1", "52"},
	"oldest-week":         {"2020-01-01", "1999-12-31"},
	"attribution":         {"", "yes", "data@agency.example", "# no: comment", "Müggelsee © 2026 – ‘x’", "line\nline", "3"},
	"contact-name":        {"Gesundheitsamt Beispielstadt", "<b>Office</b>: yes"},
	"contact-url":         {"https://example.org/bathing?a=b#c", "mailto:lakes@example.org", "tel:+49-30-1234567"},
	"max-zoom":            {"0", "20"},
	"basemap-url":         {"none", "https://tile.example.org/{z}/{x}/{y}@2x.png?v=b"},
	"basemap-labels-url":  {"none", "https://{s}.labels.example.org/{z}/{x}/{y}.png"},
	"basemap-attribution": {"", "© others"},
	"places":              {"places.json"},
	"cache-memory":        {"1MiB", "1.5MiB", "123456789", "2GB"},
	"cache-dir":           {"/var/cache/limnomap", "a b", "C:\\cache"},
	"cache-disk":          {"0", "1TiB"},
	"cache-min-free":      {"0", "1kB", "5GiB"},
	"api-rate":            {"0", "1", "2147483647"},
	"tile-rate":           {"0", "0x10"},
	"redis":               {"redis://localhost", "rediss://h:6379/1"},
	"migrate":             {"now", "never"},
	"log-format":          {"json"},
	"log-level":           {"debug", "ERROR", "warn+1"},
	"refresh-max-bytes":   {"1", "3GiB"},
	"refresh-skip-bad":    {"true", "false"},
	"events-keep":         {"1d", "365d"},
	"hooks-allow":         {"10.0.0.0/8", "fd00::/8,192.168.0.0/16"},
	"hooks-allow-http":    {"true", "false"},
	"push-services":       {"push.example.org,*.example.com", "*"},
	"push-contact":        {"mailto:lakes@example.org", "https://example.org/contact"},
}

// The output of limnomap config, as a file for --config, is the same configuration. Each round has other values of all flags.
func TestConfigFileOfConfig(t *testing.T) {
	names := slices.Sorted(maps.Keys(valuesFor))
	dir := t.TempDir()
	for round := range 8 {
		args := []string{"serve"}
		for i, name := range names {
			if values := valuesFor[name]; (round+i)%5 != 0 { // else its default
				args = append(args, "--"+name+"="+values[(round+i)%len(values)])
			}
		}
		first, err := parsed(t, args...)
		mustDo(t, err)
		var text strings.Builder
		mustDo(t, first.Print(&text))
		second, err := parsed(t, "serve", "--config", limnomaptest.WriteFile(t, dir, "printed.yaml", text.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		if changed, kept := second.Keep(first.Invocation); len(changed) > 0 || len(kept) > 0 {
			t.Errorf("%v and %v have other values\n%s", changed, kept, text.String())
		}
	}
}

// The output of limnomap config for each command, as a file for --config, is the same configuration.
func TestConfigOfEachCommand(t *testing.T) {
	file := limnomaptest.WriteFile(t, t.TempDir(), "lakes.csv", lakesCSV)
	covered := make(map[string]bool)
	for _, args := range [][]string{
		{"serve"}, {"import", "lakes", file, "--db=a.db", "--map=id=lake,name=n"}, {"import", "observations", file, "--db=a.db"},
		{"import", "advisories", file, "--db=a.db"}, {"import", "rasters", file, "--db=a.db", "--without-outline=disc:500"}, {"import", "rasters", file, "--csv=a.csv", "--db=a.db", "--shore=2"},
		{"export", "advisories", "a.csv", "--db=a.db"}, {"refresh", "--db=a.db", "--every=0 5 * * 1"},
		{"warm"}, {"forecast", "--db=a.db", "--origin=2025-07-01"}, {"export", "map", "a.pmtiles"}, {"export", "lakes", "a.csv", "--db=a.db"}, {"export", "observations", "a.csv", "--db=a.db"},
		{"backup", "b.db", "--db=a.db"}, {"demo", "--lakes=5", "--out=a.csv,b.csv"},
		{"keys", "create", "--db=a.db", "--name=a"}, {"keys", "rotate", "a", "--db=a.db"}, {"keys", "list", "--db=a.db"}, {"keys", "revoke", "a", "--db=a.db"},
		{"hooks", "create", "--db=a.db", "--url=https://example.org/", "--kinds=class_up,became_stale", "--bbox=1,2,3,4", "--hooks-allow=10.0.0.0/8"},
		{"hooks", "list", "--db=a.db"}, {"hooks", "test", "a", "--db=a.db"}, {"hooks", "set", "a", "--db=a.db", "--state=active"},
		{"hooks", "rotate", "a", "--db=a.db"}, {"hooks", "deliveries", "a", "--db=a.db"}, {"hooks", "delete", "a", "--db=a.db"},
		{"delete", "lake", "a", "--db=a.db"}, {"delete", "observations", "--db=a.db", "--source=P", "--data-type=in_situ", "--from=2025-07-01"}, {"delete", "observations", "--db=a.db", "--lake=a"},
		{"delete", "source", "P", "--db=a.db"}, {"close", "a", "--db=a.db", "--until=2100-07-01", "--cause=other", "--text-de="}, {"reopen", "a", "--db=a.db"},
		{"imports", "list", "--db=a.db"}, {"imports", "undo", "3", "--db=a.db"}, {"migrate", "--db=a.db", "--without-copy"},
		{"accuracy", "--db=a.db", "--by=region"}, {"plan", "--db=a.db", "--samples=5"}, {"cache", "stats"}, {"cache", "purge", "--bound=1,2,3,4", "--zoom=3"}, {"healthcheck"},
	} {
		first, err := parsed(t, args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		covered[config.CommandName(first.Selected())] = true
		var text strings.Builder
		if err := first.Print(&text); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		second, err := parsed(t, append(args, "--config", configured(t, text.String()))...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text.String())
		}
		if changed, kept := second.Keep(first.Invocation); len(changed) > 0 || len(kept) > 0 {
			t.Errorf("%v: %v and %v have other values\n%s", args, changed, kept, text.String())
		}
	}
	config.EachFlag(modelOf(t).Node, func(n *kong.Node, f *kong.Flag) {
		if name := config.CommandName(n); name != "" && !covered[name] {
			t.Errorf("limnomap %s is not tested", name)
		}
	})
}

func TestConfigCommand(t *testing.T) {
	for _, misplaced := range []string{"https://u:geheim@h/{z}/{x}/{y}", "https://u:ge/he@im@h/{z}/{x}/{y}", "https://geheim@h/{z}/{x}/{y}"} {
		if out := mustRun(t, "config", "--attribution", misplaced); strings.Contains(out, "geheim") || strings.Contains(out, "ge/he") || !strings.Contains(out, "attribution: •••") {
			t.Errorf("limnomap config shows a password in the wrong place:\n%s", out)
		}
		for _, flag := range []string{"--basemap-url", "--basemap-labels-url"} {
			_, _, err := runCommand(t, "config", flag, misplaced)
			if err == nil || strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "ge/he") || !strings.Contains(err.Error(), flag) {
				t.Errorf("%s with a password: %v, want an error without it", flag, err)
			}
		}
	}
	if out := mustRun(t, "config", "--base-path", "/lakes/"); !strings.Contains(out, "\n  base-path: /lakes # command line\n") {
		t.Errorf("config --base-path /lakes/ prints\n%s", out)
	}
	name := configured(t, "api-rate: 100\nserve:\n  db: postgres://limnomap:geheim@db/lakes\n  redis: redis://:geheim@redis\nwarm:\n  zoom: 3-4\n")
	t.Setenv("LIMNOMAP_TILE_RATE", "50")
	t.Setenv("LIMNOMAP_REFRESH_FROM", "https://user:geheim@example.org/lakes.csv?key=geheim")
	out := mustRun(t, "--config", name, "config", "--key-rate", "7", "--cors-origins=*")
	for _, want := range []string{
		"\nlog-format: text # default\n",
		"\nserve:\n",
		"\n  api-rate: 100 # " + name + ":1\n",
		"\n  tile-rate: 50 # LIMNOMAP_TILE_RATE\n",
		"\n  key-rate: 7 # command line\n",
		"\n  db: ••• # " + name + ":3\n",
		"\n  redis: ••• # " + name + ":4\n",
		"\n  cors-origins: ['*'] # command line\n",
		"\n  # cache-dir is not set\n",
		"\n  refresh-every: 7d # default\n", // because of LIMNOMAP_REFRESH_FROM
		"\n  refresh-from: [•••] # LIMNOMAP_REFRESH_FROM\n",
	} {
		if !strings.Contains("\n"+out, want) {
			t.Errorf("limnomap config lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "geheim") {
		t.Errorf("limnomap config shows a secret:\n%s", out)
	}
	printed := configured(t, out)
	if _, _, err := runCommand(t, "serve", "--config", printed); err == nil || !strings.Contains(err.Error(), "••• was printed instead of a secret") || !strings.Contains(err.Error(), printed+":") {
		t.Errorf("serve with the output: %v, want an error that names the hidden secret and the line", err)
	}
	if _, err := parsed(t, "serve", "--config", printed, "--db", "a.db", "--redis", "redis://r"); err != nil {
		t.Errorf("with the secrets as flags: %v", err)
	}
	if out := mustRun(t, "config", "warm", "--config", name, "--scale", "1,2"); !strings.Contains(out, "\nwarm:\n") || !strings.Contains(out, "\n  zoom: 3-4 # ") || !strings.Contains(out, "\n  scale: [1, 2] # command line\n") {
		t.Errorf("config warm prints\n%s", out)
	}
	if out := mustRun(t, "config", "keys", "list", "--db", "a.db"); !strings.Contains(out, "\nkeys:\n  list:\n    db: a.db # command line\n") {
		t.Errorf("config keys list prints\n%s", out)
	}
	if out := mustRun(t, "config", "--help"); !strings.Contains(out, "Usage: limnomap config") {
		t.Errorf("config --help prints\n%s", out)
	}
	if out := mustRun(t, "config", "warm", "--help"); !strings.Contains(out, "Usage: limnomap warm") {
		t.Errorf("config warm --help prints\n%s", out)
	}
}

// If serve would not start, config prints nothing and returns the same error.
func TestConfigChecksAsServeDoes(t *testing.T) {
	for _, args := range [][]string{
		{"--max-zoom", "30"}, {"--tls-cert", "a.pem"}, {"--tls-cert", "absent.pem", "--tls-key", "absent.pem"},
		{"--stale-after", "36h"}, {"--weeks", "0"}, {"--db", "absent.db"}, {"--db", "mysql://a:b@h/d"}, {"--db", "postgres://"}, {"--redis", "http://h"},
		{"--refresh-every", "7d"}, {"--refresh-from", "/x"}, {"--refresh-from", "ftp://x", "--db", "a.db"}, {"--public-url", "x"}, {"--cors-origins", "x"},
		{"--api-rate", "-1"}, {"--cache-memory", "1"}, {"--basemap-url", "x"}, {"--basemap-url", "ftp://h/{z}/{x}/{y}"}, {"--basemap-labels-url", "x"}, {"--basemap-labels-url", "https://h/{z}/{x}/{y}", "--basemap-url", "none"}, {"--colour"}, {"--profile", "x"},
		{"--listen", "localhost"}, {"--listen", ":65536"}, {"--admin-listen", "x"}, {"--admin-listen", ":-1"}, {"--admin-host", "http://x"}, {"--admin-host", "x:9090"}, {"--drain=-1s"}, {"--shutdown=-1s"}, {"--trace-ratio", "2"}, {"--otlp-endpoint", "x"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			out, _, err := runCommand(t, append([]string{"config"}, args...)...)
			_, _, want := runCommand(t, append([]string{"serve"}, args...)...)
			if err == nil || want == nil || err.Error() != want.Error() || out != "" {
				t.Errorf("config: %v\nserve:  %v\nprinted %q; want the same error, and nothing printed", err, want, out)
			}
		})
	}
	if _, _, err := runCommand(t, "config", "version"); err == nil {
		t.Error("config version succeeds")
	}
	if _, _, err := runCommand(t, "config", "sheep"); err == nil {
		t.Error("config sheep succeeds")
	}
}

func TestErrorsNameTheOrigin(t *testing.T) {
	name := configured(t, "serve:\n  max-zoom: 30\n")
	tests := []struct {
		name, variable, value string
		args                  []string
		want                  []string
	}{
		{"environment, unreadable", "LIMNOMAP_STALE_AFTER", "soon", []string{"serve"}, []string{"--stale-after", "soon", "28d", "LIMNOMAP_STALE_AFTER"}},
		{"environment, not allowed", "LIMNOMAP_PROFILE", "who1999", []string{"serve"}, []string{"--profile", "who2003", "LIMNOMAP_PROFILE"}},
		{"environment, out of bounds", "LIMNOMAP_API_RATE", "-1", []string{"serve"}, []string{"--api-rate -1", "0 or more", "LIMNOMAP_API_RATE"}},
		{"environment, in combination", "LIMNOMAP_TLS_CERT", "a.pem", []string{"serve"}, []string{"--tls-cert", "LIMNOMAP_TLS_CERT"}},
		{"environment, of a refresh", "LIMNOMAP_REFRESH_TIMEOUT", "0s", []string{"serve", "--db", "a.db", "--refresh-from", "."}, []string{"--refresh-timeout 0s", "1ms or more", "LIMNOMAP_REFRESH_TIMEOUT"}},
		{"environment, source of a refresh", "LIMNOMAP_FROM", "absent", []string{"refresh", "--db", "a.db"}, []string{"--from: ", "absent", "LIMNOMAP_FROM"}},
		{"environment, no network", "LIMNOMAP_TRUSTED_PROXIES", "10.0.0.0/8,10.0.0.1", []string{"serve"}, []string{`network "10.0.0.1"`, "10.0.0.0/8, fd00::/8", "LIMNOMAP_TRUSTED_PROXIES"}},
		{"environment, no level", "LIMNOMAP_LOG_LEVEL", "loud", []string{"serve"}, []string{`level "loud" is none of debug, info, warn and error`, "LIMNOMAP_LOG_LEVEL"}},
		{"file, out of bounds", "", "", []string{"serve", "--config", name}, []string{"--max-zoom 30", "0 to 20", name + ":2"}},
		{"file of the environment", "LIMNOMAP_CONFIG", name, []string{"config"}, []string{"--max-zoom 30", name + ":2"}},
		{"of another command", "LIMNOMAP_EXPIRES", "0d", []string{"keys", "create", "--db", "absent.db", "--name", "a"}, []string{"--expires 0", "LIMNOMAP_EXPIRES"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.variable != "" {
				t.Setenv(tt.variable, tt.value)
			}
			_, _, err := runCommand(t, tt.args...)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want an error that contains %q", err, want)
				}
			}
		})
	}
	_, _, err := runCommand(t, "serve", "--max-zoom", "30")
	if err == nil || strings.Contains(err.Error(), "is from") {
		t.Errorf("%v, want an error that does not explain the command line", err)
	}
}

// A key in a section of a configuration file is a flag or a command, and both only if the flag has no value of several lines. No flag takes
// the variable of the file of a secret.
func TestConfigKeysAreUnique(t *testing.T) {
	var check func(n *kong.Node)
	check = func(n *kong.Node) {
		flags := make(map[string]*kong.Flag)
		config.EachFlag(n, func(_ *kong.Node, flag *kong.Flag) { flags[flag.Name] = flag })
		for _, child := range n.Children {
			if f := flags[child.Name]; config.HasFlags(child) && f != nil && (f.IsSlice() || f.IsMap()) {
				t.Errorf("%q is a flag and a command in the section %q", child.Name, config.CommandName(n))
			}
			check(child)
		}
		for name, flag := range flags {
			if config.IsSecret(flag) && flags[name+"-file"] != nil {
				t.Errorf("the secret --%s and a flag --%s-file have the same variable", name, name)
			}
		}
	}
	check(modelOf(t).Node)
}

func TestMappingIsWrittenAsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := mapping(rapid.MapOfN(rapid.StringMatching(`[a-z_]{1,9}`), rapid.StringMatching(`[a-z,"µ/=']{1,9}`), 1, 4).Draw(t, "mapping"))
		text, _ := m.MarshalText()
		var m2 mapping
		if err := m2.UnmarshalText(text); err != nil || !maps.Equal(m2, m) {
			t.Errorf("%v is written as %q and read as %v, %v", m, text, m2, err)
		}
	})
}
