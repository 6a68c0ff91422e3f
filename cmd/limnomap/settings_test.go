package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A flag goes before the environment, the environment before the file, and the file before the default: each pair of
// them, and all, for a flag of each form.
func TestOrderOfSettings(t *testing.T) {
	flags := []struct {
		name                    string
		flag, env, file, byself string // values; the last is the default
	}{
		{"api-rate", "1", "2", "3", "300"},
		{"drain", "1s", "2s", "3s", "1s"},
		{"cache-memory", "1MiB", "2MiB", "3MiB", "64MiB"},
		{"cache-min-free", "1MiB", "0", "3MiB", ""},
		{"attribution", "flag", "", "file", ""},
		{"cors-origins", "https://flag.org", "https://env.org", "https://file.org", ""},
		{"refresh-skip-bad", "true", "false", "true", "false"},
		{"profile", "who2021", "uba2015", "who2021", "who2003"},
		{"frame-ancestors", "'self'", "'none'", "https://file.org", "*"},
		{"log-level", "DEBUG", "WARN", "ERROR", "INFO"},
		{"redis", "redis://flag", "redis://env", "redis://file", ""},
		{"trusted-proxies", "10.0.0.0/8", "192.0.2.0/24", "fd00::/8", ""},
	}
	for from := range 16 {
		byFlag, byEnv, byFile, bySection := from&8 != 0, from&4 != 0, from&2 != 0, from&1 != 0
		t.Run(fmt.Sprintf("flag=%v,env=%v,section=%v,file=%v", byFlag, byEnv, bySection, byFile), func(t *testing.T) {
			args, top, section := []string{"serve"}, "", "serve:\n"
			for _, f := range flags {
				if byFile {
					value := f.file
					if bySection {
						value = f.flag // which the section's goes before
					}
					top += fmt.Sprintf("%s: %s\n", f.name, inYAML(f.name, value))
				}
				if bySection {
					section += fmt.Sprintf("  %s: %s\n", f.name, inYAML(f.name, f.file))
				}
				if byEnv {
					t.Setenv(envName(f.name), f.env)
				}
				if byFlag {
					args = append(args, "--"+f.name+"="+f.flag)
				}
			}
			file := configured(t, top+section)
			c, err := parsed(t, append(args, "--config", file)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range flags {
				want, origin := f.byself, "default"
				switch {
				case byFlag:
					want, origin = f.flag, "command line"
				case byEnv:
					want, origin = f.env, envName(f.name)
				case byFile || bySection:
					want, origin = f.file, file+":"
				}
				flag := flagNamed(t, c, f.name)
				texts, _, err := valuesOf(flag)
				if got := strings.Join(texts, " "); err != nil || got != want {
					t.Errorf("--%s is %q, %v; want %q", f.name, got, err, want)
				}
				if got := c.settings.originOf(c.command, flag).text; !strings.HasPrefix(got, origin) {
					t.Errorf("--%s is said to be from %s, want %s", f.name, got, origin)
				}
			}
		})
	}
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// inYAML returns a value of that flag as YAML.
func inYAML(flag, value string) string {
	switch flag {
	case "api-rate", "refresh-skip-bad":
		return value
	}
	return fmt.Sprintf("%q", value)
}

func flagNamed(t testing.TB, c *call, name string) *kong.Flag {
	t.Helper()
	for _, flag := range c.command.Flags() {
		if flag.Name == name {
			return flag
		}
	}
	t.Fatalf("there is no flag --%s", name)
	return nil
}

// The value of a flag that is wrong by the environment or the file does no harm where another goes before it.
func TestOverriddenSettingsMayBeWrong(t *testing.T) {
	t.Setenv("LIMNOMAP_CACHE_MEMORY", "sheep")
	if _, err := parsed(t, "serve", "--cache-memory", "2MiB"); err != nil {
		t.Errorf("a wrong environment behind a flag: %v", err)
	}
	if _, err := parsed(t, "serve"); err == nil {
		t.Error("a wrong environment passes")
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
		{"environment, out of bounds", "LIMNOMAP_API_RATE", "-1", []string{"serve"}, []string{"--api-rate -1", "0 (no limit) or more", "LIMNOMAP_API_RATE"}},
		{"environment, in combination", "LIMNOMAP_TLS_CERT", "a.pem", []string{"serve"}, []string{"--tls-cert", "LIMNOMAP_TLS_CERT"}},
		{"environment, of a refresh", "LIMNOMAP_REFRESH_TIMEOUT", "0s", []string{"serve", "--db", "a.db", "--refresh-from", "."}, []string{"--refresh-timeout 0s", "more than 0s", "LIMNOMAP_REFRESH_TIMEOUT"}},
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

func TestUnknownVariables(t *testing.T) {
	tests := []struct{ variable, want string }{
		{"LIMNOMAP_API_RAT=3", "LIMNOMAP_API_RAT, which no command knows: did you mean LIMNOMAP_API_RATE?"},
		{"LIMNOMAP_BD=lakes.db", "did you mean LIMNOMAP_DB?"},
		{"LIMNOMAP_SHEEP=geheim", "limnomap --help tells which there are"},
		{"LIMNOMAP_API_RATE_FILE=x", "LIMNOMAP_API_RATE_FILE"}, // is no secret
		{"LIMNOMAP_PORT=8080", "LIMNOMAP_PORT"},
		{"LIMNOMAP_=x", "LIMNOMAP_,"},
		{"LIMNOMAP_api_rate=3", "LIMNOMAP_API_RATE"},
		{"LIMNOMAP_DB=x", ""},
		{"LIMNOMAP_DB_FILE=x", ""},
		{"LIMNOMAP_CONFIG=x", ""},
		{"LIMNOMAP_TEST_POSTGRES=x", ""},
		{"LIMNOMAP_SOAK=10m", ""},
		{"XLIMNOMAP_API_RAT=3", ""},
		// What Kubernetes sets for the services limnomap and limnomap-redis.
		{"LIMNOMAP_SERVICE_HOST=10.96.0.1", ""},
		{"LIMNOMAP_SERVICE_PORT=80", ""},
		{"LIMNOMAP_SERVICE_PORT_HTTP=80", ""},
		{"LIMNOMAP_PORT=tcp://10.96.0.1:80", ""},
		{"LIMNOMAP_PORT_80_TCP=tcp://10.96.0.1:80", ""},
		{"LIMNOMAP_PORT_80_TCP_PROTO=tcp", ""},
		{"LIMNOMAP_PORT_80_TCP_PORT=80", ""},
		{"LIMNOMAP_PORT_80_TCP_ADDR=10.96.0.1", ""},
		{"LIMNOMAP_REDIS_SERVICE_HOST=10.96.0.1", ""},
		{"LIMNOMAP_REDIS_PORT=tcp://10.96.0.1:6379", ""},
	}
	app := modelOf(t)
	for _, tt := range tests {
		err := unknownVariables([]string{"HOME=/", tt.variable, "PATH"}, app)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.variable, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: the error repeats the value: %v", tt.variable, err)
		}
	}
	t.Setenv("LIMNOMAP_BD", "lakes.db")
	for _, args := range [][]string{{"serve"}, {"keys", "list"}, {"config"}} {
		if _, _, err := runCommand(t, args...); err == nil || !strings.Contains(err.Error(), "LIMNOMAP_BD") {
			t.Errorf("%v with LIMNOMAP_BD: %v, want an error that names it", args, err)
		}
	}
	mustRun(t, "version")
	mustRun(t, "serve", "--help")
}

// What is named by an empty text, as by a script whose own variable is not set, is not what is left out.
func TestEmptySettings(t *testing.T) {
	tests := []struct {
		variable string
		args     []string
		want     string
	}{
		{"LIMNOMAP_CONFIG", []string{"serve"}, "--config is empty: want the name of a YAML file"},
		{"", []string{"--config=", "serve"}, "--config is empty: want the name of a YAML file"},
		{"LIMNOMAP_DB", []string{"serve"}, "--db is empty: want a database"},
		{"", []string{"serve", "--db="}, "--db is empty: want a database"},
		{"", []string{"keys", "list", "--db="}, "--db is empty: want a database"},
		{"", []string{"serve", "--config", configured(t, "serve:\n  db: ''\n")}, "limnomap.yaml:2"},
		{"LIMNOMAP_DB_FILE", []string{"serve"}, "LIMNOMAP_DB_FILE is empty: want the name of a file"},
	}
	for _, tt := range tests {
		t.Run(tt.variable+" "+strings.Join(tt.args, " "), func(t *testing.T) {
			if tt.variable != "" {
				t.Setenv(tt.variable, "")
			}
			if _, err := parsed(t, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an error that contains %q", err, tt.want)
			}
			mustRun(t, "version") // whatever the environment
		})
	}
}

func TestSecretsInFiles(t *testing.T) {
	dir := t.TempDir()
	const secret = "postgres://limnomap:geheim@db.example.org/lakes"
	t.Setenv("LIMNOMAP_DB_FILE", limnomaptest.WriteFile(t, dir, "db", secret+"\n"))
	c, err := parsed(t, "serve")
	if err != nil || c.cli.Serve.DB != secret {
		t.Fatalf("LIMNOMAP_DB_FILE: %v", err)
	}
	if out := mustRun(t, "config"); !strings.Contains(out, "db: postgres://limnomap:<hidden>@db.example.org/lakes # LIMNOMAP_DB_FILE\n") {
		t.Errorf("limnomap config prints\n%s", out)
	}
	if c, err := parsed(t, "serve", "--db", "other.db"); err != nil || c.cli.Serve.DB != "other.db" {
		t.Errorf("a flag beside LIMNOMAP_DB_FILE: %v", err)
	}
	if c, err := parsed(t, "serve", "--config", configured(t, "db: file.db")); err != nil || c.cli.Serve.DB != secret {
		t.Errorf("LIMNOMAP_DB_FILE does not go before the file: %v", err)
	}
	for content, want := range map[string]string{"": "no text", "\n": "no text", secret + "\n" + secret: "several lines", strings.Repeat("a", maxSecret+1): "longer than"} {
		t.Setenv("LIMNOMAP_DB_FILE", limnomaptest.WriteFile(t, dir, "db", content))
		if _, err := parsed(t, "serve"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "LIMNOMAP_DB_FILE") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("LIMNOMAP_DB_FILE with %.20q: %v, want an error that contains %q", content, err, want)
		}
	}
	t.Setenv("LIMNOMAP_DB_FILE", filepath.Join(dir, "absent"))
	if _, err := parsed(t, "serve"); err == nil || !strings.Contains(err.Error(), "LIMNOMAP_DB_FILE") {
		t.Errorf("LIMNOMAP_DB_FILE that is absent: %v", err)
	}
	t.Setenv("LIMNOMAP_DB", "lakes.db")
	if _, err := parsed(t, "serve"); err == nil || !strings.Contains(err.Error(), "LIMNOMAP_DB and LIMNOMAP_DB_FILE are both set") {
		t.Errorf("both: %v, want an error", err)
	}
	os.Unsetenv("LIMNOMAP_DB_FILE") // which t.Setenv puts back in order
	if _, err := parsed(t, "serve"); err != nil {
		t.Errorf("LIMNOMAP_DB alone: %v", err)
	}
}
