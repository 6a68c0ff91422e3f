package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A flag overrides the environment, the environment overrides the file, and the file overrides the default: in all
// combinations, for flags of all types.
func TestOrderOfSettings(t *testing.T) {
	flags := []struct {
		name                    string
		flag, env, file, preset string // values; preset is the default
	}{
		{"api-rate", "1", "2", "3", "300"},
		{"drain", "1s", "2s", "3s", "1s"},
		{"cache-memory", "1MiB", "2MiB", "3MiB", "64MiB"},
		{"cache-min-free", "1MiB", "0", "3MiB", ""},
		{"attribution", "flag", "", "file", ""},
		{"cors-origins", "https://flag.org", "https://env.org", "https://file.org", ""},
		{"skip-bad", "true", "false", "true", "false"},
		{"profile", "who2021", "who2003", "who2021", "who2003"},
		{"frame-ancestors", "self", "none", "https://file.org", "*"},
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
						value = f.flag // the section overrides it
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
			file := writeConfig(t, top+section)
			_, inv, err := parse(t, append(args, "--config", file)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range flags {
				want, origin := f.preset, "default"
				switch {
				case byFlag:
					want, origin = f.flag, "command line"
				case byEnv:
					want, origin = f.env, envName(f.name)
				case byFile || bySection:
					want, origin = f.file, file+":"
				}
				flag := flagNamed(t, inv.Selected(), f.name)
				texts, _, err := textsOf(flag)
				if got := strings.Join(texts, " "); err != nil || got != want {
					t.Errorf("--%s is %q, %v; want %q", f.name, got, err, want)
				}
				if got := inv.resolver.originOf(inv.Command, flag); !strings.HasPrefix(got, origin) {
					t.Errorf("--%s is from %s, want %s", f.name, got, origin)
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
	case "api-rate", "skip-bad":
		return value
	}
	return fmt.Sprintf("%q", value)
}

// An invalid value in the environment is not an error if a flag overrides it.
func TestOverriddenSettingsMayBeWrong(t *testing.T) {
	t.Setenv("LIMNOMAP_CACHE_MEMORY", "sheep")
	if _, _, err := parse(t, "serve", "--cache-memory", "2MiB"); err != nil {
		t.Errorf("an invalid variable that a flag overrides: %v", err)
	}
	if _, _, err := parse(t, "serve"); err == nil {
		t.Error("an invalid variable is accepted")
	}
}

func TestUnknownVariables(t *testing.T) {
	tests := []struct{ variable, want string }{
		{"LIMNOMAP_API_RAT=3", "unknown environment variable LIMNOMAP_API_RAT: did you mean LIMNOMAP_API_RATE?"},
		{"LIMNOMAP_BD=lakes.db", "did you mean LIMNOMAP_DB?"},
		{"LIMNOMAP_SHEEP=geheim", "limnomap --help lists the flags"},
		{"LIMNOMAP_API_RATE_FILE=x", "LIMNOMAP_API_RATE_FILE"}, // not a secret
		{"LIMNOMAP_PORT=8080", "LIMNOMAP_PORT"},
		{"LIMNOMAP_=x", "LIMNOMAP_:"},
		{"LIMNOMAP_api_rate=3", "LIMNOMAP_API_RATE"},
		{"LIMNOMAP_DB=x", ""},
		{"LIMNOMAP_DB_FILE=x", ""},
		{"LIMNOMAP_CONFIG=x", ""},
		{"LIMNOMAP_TEST_POSTGRES=x", ""},
		{"XLIMNOMAP_API_RAT=3", ""},
		// Variables of Kubernetes for the services limnomap and limnomap-redis.
		{"LIMNOMAP_SERVICE_HOST=10.96.0.1", ""},
		{"LIMNOMAP_PORT=tcp://10.96.0.1:80", ""},
		{"LIMNOMAP_PORT_80_TCP_ADDR=10.96.0.1", ""},
		{"LIMNOMAP_REDIS_SERVICE_HOST=10.96.0.1", ""},
		{"LIMNOMAP_REDIS_PORT=tcp://10.96.0.1:6379", ""},
	}
	app := model(t)
	for _, tt := range tests {
		err := unknownVariables([]string{"HOME=/", tt.variable, "PATH"}, app, nil)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.variable, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: the error repeats the value: %v", tt.variable, err)
		}
	}
	t.Setenv("LIMNOMAP_BD", "lakes.db")
	for _, args := range [][]string{{"serve"}, {"keys", "list"}, {"config"}} {
		if _, _, err := parse(t, args...); err == nil || !strings.Contains(err.Error(), "LIMNOMAP_BD") {
			t.Errorf("%v with LIMNOMAP_BD: %v, want an error that names it", args, err)
		}
	}
	for _, args := range [][]string{{"version"}, {"serve", "--help"}} {
		if _, _, err := parse(t, args...); err != nil {
			t.Errorf("%v with an unknown variable: %v", args, err)
		}
	}
}

// An empty name, as from a script whose variable is not set, is not the same as no name.
func TestEmptySettings(t *testing.T) {
	tests := []struct {
		variable string
		args     []string
		want     string
	}{
		{"LIMNOMAP_CONFIG", []string{"serve"}, "--config is empty: name a YAML file"},
		{"", []string{"--config=", "serve"}, "--config is empty: name a YAML file"},
		{"LIMNOMAP_DB", []string{"serve"}, "--db is empty: name a database"},
		{"", []string{"serve", "--db="}, "--db is empty: name a database"},
		{"", []string{"keys", "list", "--db="}, "--db is empty: name a database"},
		{"", []string{"serve", "--config", writeConfig(t, "serve:\n  db: ''\n")}, "limnomap.yaml:2"},
		{"LIMNOMAP_DB_FILE", []string{"serve"}, "LIMNOMAP_DB_FILE is empty: name a file"},
	}
	for _, tt := range tests {
		t.Run(tt.variable+" "+strings.Join(tt.args, " "), func(t *testing.T) {
			if tt.variable != "" {
				t.Setenv(tt.variable, "")
			}
			if _, _, err := parse(t, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want an error that contains %q", err, tt.want)
			}
			if _, _, err := parse(t, "version"); err != nil {
				t.Errorf("version with an empty setting: %v", err)
			}
		})
	}
}

func TestSecretsInFiles(t *testing.T) {
	dir := t.TempDir()
	const secret = "postgres://limnomap:geheim@db.example.org/lakes"
	t.Setenv("LIMNOMAP_DB_FILE", writeFile(t, filepath.Join(dir, "db"), secret+"\n"))
	g, inv, err := parse(t, "serve")
	if err != nil || g.Serve.DB.Reveal() != secret {
		t.Fatalf("LIMNOMAP_DB_FILE: %v", err)
	}
	var out strings.Builder
	if err := inv.Print(&out); err != nil || !strings.Contains(out.String(), "db: ••• # LIMNOMAP_DB_FILE\n") {
		t.Errorf("Print: %v\n%s", err, out.String())
	}
	if g, _, err := parse(t, "serve", "--db", "other.db"); err != nil || g.Serve.DB.Reveal() != "other.db" {
		t.Errorf("a flag with LIMNOMAP_DB_FILE: %v", err)
	}
	if g, _, err := parse(t, "serve", "--config", writeConfig(t, "db: file.db")); err != nil || g.Serve.DB.Reveal() != secret {
		t.Errorf("LIMNOMAP_DB_FILE does not override the file: %v", err)
	}
	for content, want := range map[string]string{"": "is empty", "\n": "is empty", secret + "\n" + secret: "several lines", strings.Repeat("a", maxSecret+1): "longer than"} {
		t.Setenv("LIMNOMAP_DB_FILE", writeFile(t, filepath.Join(dir, "db"), content))
		if _, _, err := parse(t, "serve"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "LIMNOMAP_DB_FILE") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("LIMNOMAP_DB_FILE with %.20q: %v, want an error that contains %q", content, err, want)
		}
	}
	t.Setenv("LIMNOMAP_DB_FILE", filepath.Join(dir, "absent"))
	if _, _, err := parse(t, "serve"); err == nil || !strings.Contains(err.Error(), "LIMNOMAP_DB_FILE") {
		t.Errorf("LIMNOMAP_DB_FILE that is absent: %v", err)
	}
	t.Setenv("LIMNOMAP_DB", "lakes.db")
	if _, _, err := parse(t, "serve"); err == nil || !strings.Contains(err.Error(), "LIMNOMAP_DB and LIMNOMAP_DB_FILE are both set") {
		t.Errorf("both: %v, want an error", err)
	}
	os.Unsetenv("LIMNOMAP_DB_FILE") // t.Setenv restores it
	if _, _, err := parse(t, "serve"); err != nil {
		t.Errorf("only LIMNOMAP_DB: %v", err)
	}
}
