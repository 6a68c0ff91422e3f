package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"limnomap/cmd/limnomap/limnomaptest"
)

// valuesFor has values for flags of all forms. What is drawn for a flag is one of them or the flag's default.
var valuesFor = map[string][]string{
	"listen":              {":8080", "[::1]:443", "localhost:0"},
	"admin-listen":        {"127.0.0.1:9090"},
	"base-path":           {"/lakes", "/a/b.c/~d"},
	"public-url":          {"https://lakes.example.org/a"},
	"trusted-proxies":     {"10.0.0.0/8", "10.0.0.0/8,fd00::/8,192.0.2.1/32"},
	"cors-origins":        {"https://maps.example.org", "https://a.org,https://b.org:8443", "*"},
	"frame-ancestors":     {"*", "none", "self,https://*.example.org:8443"},
	"drain":               {"0s", "1h2m3.5s"},
	"profile":             {"who2021", "uba2015"},
	"stale-after":         {"7d", "48h"},
	"weeks":               {"1", "52"},
	"attribution":         {"", "yes", "data@agency.example", "# no: comment", "Müggelsee © 2026 – ‘x’", "line\nline", "3"},
	"max-zoom":            {"0", "20"},
	"basemap-url":         {"none", "https://tile.example.org/{z}/{x}/{y}@2x.png?key=b"},
	"basemap-attribution": {"", "© others"},
	"cache-memory":        {"1MiB", "1.5MiB", "123456789", "2GB"},
	"cache-dir":           {"/var/cache/limnomap", "a b", "C:\\cache"},
	"cache-disk":          {"0", "1TiB"},
	"cache-min-free":      {"0", "1kB", "5GiB"},
	"api-rate":            {"0", "1", "2147483647"},
	"tile-rate":           {"0", "0x10"},
	"redis":               {"redis://localhost", "rediss://h:6379/1"},
	"log-requests":        {"0", "7"},
	"log-format":          {"json"},
	"log-level":           {"debug", "ERROR", "warn+1"},
	"refresh-max-bytes":   {"1", "3GiB"},
	"refresh-skip-bad":    {"true", "false"},
}

// What limnomap config prints is, given to --config, the same configuration. Each round has other values of all flags; two
// calls of a command are not cheap under the race detector.
func TestConfigIsTakenAgain(t *testing.T) {
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
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := first.print(&text); err != nil {
			t.Fatal(err)
		}
		second, err := parsed(t, "serve", "--config", limnomaptest.WriteFile(t, dir, "printed.yaml", text.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, text.String())
		}
		for i, flag := range first.command.Flags() {
			if same, err := sameValue(flag, second.command.Flags()[i]); flag.Name != "config" && (!same || err != nil) {
				t.Errorf("--%s is another value, %v\n%s", flag.Name, err, text.String())
			}
		}
	}
}

// Whatever text a flag or a list holds, it is one line of a file that says the same.
func TestTextsAreTakenAgain(t *testing.T) {
	var attribution, origins *kong.Flag
	for name, flags := range flagsBelow(subcommand(modelOf(t).Node, "serve")) {
		switch name {
		case "attribution":
			attribution = flags[0].Flag
		case "cors-origins":
			origins = flags[0].Flag
		}
	}
	awkward := []string{"", "yes", "null", "3", "# no: comment", "a, b", "'", `"`, `\`, "Müggelsee © 2026 – ‘x’", " a ", "line\nline", "\t", "- a", "[a]", "*a", "&a",
		"!a", "~", "0x10", "1e3", "2026-01-01", "%", "@", "`", "=", "a: b", "{", "\u2028", "\x00", "\ufeff", "e\u0301", "😀", "true", "|", ">", "? a", "---", "..."}
	texts := rapid.OneOf(rapid.SampledFrom(awkward), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(texts, 0, 4).Draw(t, "texts")
		for flag, want := range map[*kong.Flag][]string{attribution: {strings.Join(want, "")}, origins: want} {
			line, err := yamlOf(flag, want)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(line, "\r\n") {
				t.Fatalf("%q is written in several lines: %q", want, line)
			}
			var document yaml.Node
			if err := yaml.Unmarshal([]byte("key: "+line+" # comment\n"), &document); err != nil {
				t.Fatalf("%q is written as %q: %v", want, line, err)
			}
			taken, err := take(flag, document.Content[0].Content[1])
			if err != nil {
				t.Fatalf("%q is written as %q: %v", want, line, err)
			}
			got := []string{fmt.Sprint(taken)}
			if list, ok := taken.([]any); ok {
				got = nil
				for _, item := range list {
					got = append(got, item.(string))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q is written as %q and read as %q", want, line, got)
			}
		}
	})
}

// Each flag of each command can be written as it is read: its default is, in any case.
func TestEveryFlagCanBePrinted(t *testing.T) {
	seen := 0
	each(modelOf(t).Node, func(n *kong.Node, flag *kong.Flag) {
		if !inFile(flag) {
			return
		}
		seen++
		texts, set, err := valuesOf(flag)
		if err != nil {
			t.Errorf("%s --%s: %v", n.Path(), flag.Name, err)
		}
		if flag.HasDefault && flag.Default != "" && !set {
			t.Errorf("%s --%s has a default and no value", n.Path(), flag.Name)
		}
		if !set {
			return
		}
		line, err := yamlOf(flag, texts)
		if err != nil {
			t.Fatal(err)
		}
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(line), &document); err != nil {
			t.Fatal(err)
		}
		taken, err := take(flag, document.Content[0])
		if err != nil {
			t.Errorf("%s --%s: %v, and it was printed", n.Path(), flag.Name, err)
			return
		}
		scratch := *flag.Value
		again := &kong.Flag{Value: &scratch}
		again.Target = reflect.New(flag.Target.Type()).Elem()
		if err := again.Value.Parse(kong.Scan().PushTyped(taken, kong.FlagValueToken), again.Target); err != nil {
			t.Fatal(err)
		}
		if back, _, err := valuesOf(again); err != nil || !slices.Equal(back, texts) {
			t.Errorf("%s --%s: %q is read as %q, %v", n.Path(), flag.Name, texts, back, err)
		}
	})
	if seen < 100 {
		t.Errorf("%d flags, want those of all commands", seen)
	}
}

func TestConfigCommand(t *testing.T) {
	for _, misplaced := range []string{"https://u:geheim@h/{z}/{x}/{y}", "https://u:ge/he@im@h/{z}/{x}/{y}", "https://geheim@h/{z}/{x}/{y}"} {
		if out := mustRun(t, "config", "--basemap-url", misplaced); strings.Contains(out, "geheim") || strings.Contains(out, "ge/he") || !strings.Contains(out, "basemap-url: https://") {
			t.Errorf("limnomap config shows what was typed in the wrong place:\n%s", out)
		}
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
		"\n  db: postgres://limnomap:<hidden>@db/lakes # " + name + ":3\n",
		"\n  redis: redis://:<hidden>@redis # " + name + ":4\n",
		"\n  cors-origins: ['*'] # command line\n",
		"\n  # cache-dir is not set\n",
		"\n  refresh-every: 7d # default\n", // since there is something to refresh from
		"key=<hidden>",
	} {
		if !strings.Contains("\n"+out, want) {
			t.Errorf("limnomap config lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "geheim") {
		t.Errorf("limnomap config shows a secret:\n%s", out)
	}
	printed := configured(t, out)
	if _, _, err := runCommand(t, "serve", "--config", printed); err == nil || !strings.Contains(err.Error(), "<hidden> stands for a secret") || !strings.Contains(err.Error(), printed+":") {
		t.Errorf("serve by what was printed: %v, want an error that names the hidden secret and the line", err)
	}
	if _, err := parsed(t, "serve", "--config", printed, "--db", "a.db", "--redis", "redis://r"); err != nil {
		t.Errorf("with the secrets said otherwise: %v", err)
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

// What serve would not start with, config says, with the same words, and prints nothing.
func TestConfigChecksAsServeDoes(t *testing.T) {
	for _, args := range [][]string{
		{"--max-zoom", "30"}, {"--tls-cert", "a.pem"}, {"--tls-cert", "absent.pem", "--tls-key", "absent.pem"},
		{"--stale-after", "36h"}, {"--weeks", "0"}, {"--db", "absent.db"}, {"--db", "mysql://a:b@h/d"}, {"--db", "postgres://"}, {"--redis", "http://h"},
		{"--refresh-every", "7d"}, {"--refresh-from", "/x"}, {"--refresh-from", "ftp://x", "--db", "a.db"}, {"--public-url", "x"}, {"--cors-origins", "x"},
		{"--api-rate", "-1"}, {"--log-requests", "-1"}, {"--cache-memory", "1"}, {"--basemap-url", "x"}, {"--colour"}, {"--profile", "x"},
		{"--listen", "localhost"}, {"--listen", ":65536"}, {"--admin-listen", "x"}, {"--admin-listen", ":-1"}, {"--drain=-1s"}, {"--shutdown=-1s"}, {"--trace-ratio", "2"}, {"--otlp-endpoint", "x"},
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
		t.Error("config version passes")
	}
	if _, _, err := runCommand(t, "config", "sheep"); err == nil {
		t.Error("config sheep passes")
	}
}

func TestValuesAreWrittenAsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := byteSize(rapid.Int64Range(0, 1<<52).Draw(t, "bytes"))
		p := period(rapid.Int64Range(0, int64(36500*day)).Draw(t, "period"))
		b := bound{rapid.Float64Range(-180, 180).Draw(t, "w"), rapid.Float64Range(-90, 0).Draw(t, "s"), rapid.Float64Range(-180, 180).Draw(t, "e"), rapid.Float64Range(0, 90).Draw(t, "n")}
		m := mapping(rapid.MapOfN(rapid.StringMatching(`[a-z_]{1,9}`), rapid.StringMatching(`[a-z,"µ/=']{1,9}`), 0, 4).Draw(t, "mapping"))
		check := func(text []byte, err error, read func([]byte) error, got, want func() string) {
			if err == nil {
				err = read(text)
			}
			if err != nil || got() != want() {
				t.Errorf("%q is read as %s, %v; want %s", text, got(), err, want())
			}
		}
		var size2 byteSize
		text, err := size.MarshalText()
		check(text, err, size2.UnmarshalText, func() string { return fmt.Sprint(int64(size2)) }, func() string { return fmt.Sprint(int64(size)) })
		var p2 period
		text, err = p.MarshalText()
		check(text, err, p2.UnmarshalText, func() string { return fmt.Sprint(int64(p2)) }, func() string { return fmt.Sprint(int64(p)) })
		var b2 bound
		text, err = b.MarshalText()
		check(text, err, b2.UnmarshalText, func() string { return fmt.Sprint(b2) }, func() string { return fmt.Sprint(b) })
		if len(m) > 0 {
			var m2 mapping
			text, err = m.MarshalText()
			check(text, err, m2.UnmarshalText, func() string { return fmt.Sprint(map[string]string(m2)) }, func() string { return fmt.Sprint(map[string]string(m)) })
		}
	})
}
