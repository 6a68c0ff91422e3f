package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"limnomap/cmd/limnomap/limnomaptest"
)

// modelOf returns the commands and their flags.
func modelOf(t testing.TB) *kong.Application {
	t.Helper()
	c, err := parse([]string{"version"}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c.command.Model
}

// parsed returns what limnomap would go by.
func parsed(t testing.TB, args ...string) (*call, error) {
	t.Helper()
	return parse(args, io.Discard, io.Discard)
}

func configured(t testing.TB, text string) string {
	t.Helper()
	return limnomaptest.WriteFile(t, t.TempDir(), "limnomap.yaml", text)
}

func TestConfigFile(t *testing.T) {
	name := configured(t, `# for all commands
db: lakes.db
log-level: debug
api-rate: 200
trusted-proxies: 10.0.0.0/8
drain: 2s
cache-memory: 4194304
style: heat
serve:
  api-rate: 0x40
  frame-ancestors: [self, https://example.org]
  cors-origins:
    - https://maps.example.org
    - https://other.example.org
  weeks: 52
  cache-min-free: 0
  refresh-from: ["https://example.org/a,b.csv"]
warm:
export:
  attribution: of exports
  map: {attribution: of maps}
`)
	c, err := parsed(t, "serve", "--config", name)
	if err != nil {
		t.Fatal(err)
	}
	s := c.cli.Serve
	got := fmt.Sprint(s.DB, c.cli.LogLevel, s.APIRate, s.TrustedProxies, s.Drain, int64(s.CacheMemory), s.CORSOrigins, s.Weeks, *s.CacheMinFree, len(s.Refresh.From), s.TileRate)
	if want := "lakes.dbDEBUG 64 [10.0.0.0/8] 2s 4194304 [https://maps.example.org https://other.example.org] 52 0 1 6000"; got != want {
		t.Errorf("serve goes by %s, want %s", got, want)
	}
	if text, _ := s.FrameAncestors.MarshalText(); string(text) != "'self' https://example.org" {
		t.Errorf("frame ancestors are %s", text)
	}
	for args, want := range map[string]string{
		"export lakes.pmtiles": "of maps", "export map lakes.pmtiles": "of maps", "export map lakes.pmtiles --attribution mine": "mine",
	} {
		c, err := parsed(t, append([]string{"--config", name}, strings.Fields(args)...)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.cli.Export.Map.Attribution; got != want {
			t.Errorf("%s: attribution %q, want %q", args, got, want)
		}
	}
	if c, err := parsed(t, "keys", "list", "--config", name); err != nil || c.cli.Keys.List.DB != "lakes.db" {
		t.Errorf("keys list by the file: %v, want the database at the top of it", err)
	}
}

func TestConfigFileRejects(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "api-rat: 3", `:1: unknown key "api-rat": did you mean api-rate?`},
		{"unknown key like none", "\n\nsheep: 3", `:3: unknown key "sheep": allowed are the flags of all commands`},
		{"underscore", "serve:\n  api_rate: 3", `:2: unknown key "api_rate" in the section serve: did you mean api-rate?`},
		{"of another command", "refresh:\n  api-rate: 3", `:2: unknown key "api-rate" in the section refresh: allowed are the flags of limnomap refresh`},
		{"unknown section", "server:\n  api-rate: 3", `:1: unknown key "server": did you mean serve?`},
		{"section without flags", "version:\n  db: a", `:1: unknown key "version"`},
		{"itself", "config: other.yaml", `:1: unknown key "config"`},
		{"help", "help: true", `:1: unknown key "help"`},
		{"twice", "api-rate: 3\ntile-rate: 4\napi-rate: 5", `:3: "api-rate" stands in line 1 already`},
		{"section twice", "serve:\n  api-rate: 3\nserve:\n  tile-rate: 5", `:3: "serve" stands in line 1 already`},
		{"text for a number", "api-rate: many", `:1: api-rate: want a whole number, such as 300`},
		{"quoted number", `api-rate: "300"`, `:1: api-rate: want a whole number, such as 300, without quotes`},
		{"fraction", "api-rate: 1.5", `:1: api-rate: want a whole number`},
		{"number too large", "api-rate: 99999999999999999999", `:1: api-rate: `},
		{"yes", "refresh-skip-bad: yes", `:1: refresh-skip-bad: want true or false`},
		{"true for a text", "attribution: true", `:1: attribution: want a text, in quotes where YAML`},
		{"list for a text", "attribution: [a, b]", `:1: attribution: want a text`},
		{"mapping for a text", "db: {user: a, password: geheim}", `:1: db: want a text`},
		{"list in a list", "cors-origins: [[a]]", `:1: cors-origins: want a text`},
		{"text with commas for a list", "cors-origins: https://a.org,https://b.org", `:1: cors-origins: this is one text with commas: want a list`},
		{"no value", "db:", `:1: db: there is no value: leave the line out`},
		{"size", "cache-memory: 64 sheep", `:1: cache-memory: size "64 sheep" is not a number of bytes such as 64MiB`},
		{"of a command that does not run", "warm:\n  zoom: 9-0", `:2: zoom in the section warm: zooms "9-0" are not`},
		{"none of those allowed", "profile: who1999", `:1: profile: "who1999" is none of who2003, who2021, uba2015`},
		{"of one command and not of the other", "style: [heat, dots]", `if it is for another command, write it into that one's section`},
		{"duration without a unit", "drain: 15", `:1: drain: `},
		{"proxy", "trusted-proxies: [fd00::/8, 10.0.0.0]", `:1: trusted-proxies: network "10.0.0.0" is not an address with a length, such as 10.0.0.0/8`},
		{"level", "log-level: loud", `:1: log-level: level "loud" is none of debug, info, warn and error`},
		{"reference", "db: &a lakes.db\nattribution: *a", `:2: attribution: references (*) are not known here`},
		{"reference in a list", "db: &a lakes.db\ncors-origins: [*a]", `:2: cors-origins: references (*) are not known here`},
		{"merge key", "a: &a {b: c}\n<<: *a", `unknown key "a"`},
		{"tag", "db: !!binary aGFsbG8=", `:1: db: want a text`},
		{"other tag", "db: !secret x", `:1: db: want a text`},
		{"key that is a list", "[a]: b", `:1: a key is a word such as api-rate`},
		{"a list", "- api-rate", `:1: want lines such as api-rate: 300`},
		{"a word", "serve", `:1: want lines such as api-rate: 300`},
		{"a word for a section", "serve: 3", `:1: want lines such as api-rate: 300 in the section serve`},
		{"two documents", "api-rate: 3\n---\napi-rate: 4", "a second document begins"},
		{"no YAML", "api-rate: 3\n\tdb: x", ":2: this is no YAML: "},
		{"too long", "#" + strings.Repeat(" ", maxConfigFile), "is longer than the 262144 bytes"},
	}
	app := modelOf(t)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := configured(t, tt.text)
			_, err := readConfigFile(name, app)
			if i == 0 { // as all of them show
				_, err = parsed(t, "serve", "--config", name)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), name) {
				t.Errorf("%v, want an error that names the file and contains %q", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "limnomap --help")) {
				t.Errorf("%v: want neither a secret nor advice on the command line in it", err)
			}
		})
	}
	for name, want := range map[string]string{filepath.Join(t.TempDir(), "absent.yaml"): "no such file", t.TempDir(): "is no regular file", os.DevNull: "is no regular file"} {
		if _, err := parsed(t, "serve", "--config", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--config %s: %v, want an error that contains %q", name, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "serve:\n", "\ufeffapi-rate: 3\n", "{\"api-rate\": 3}"} {
		if _, err := parsed(t, "serve", "--config", configured(t, text)); err != nil {
			t.Errorf("%q: %v, want it to be taken", text, err)
		}
	}
}

// A file of a hundred lines that would be 10^9 words, if references were followed: it is rejected at the first.
func TestConfigFileOfManyReferences(t *testing.T) {
	var text strings.Builder
	text.WriteString("attribution: &a0 lol\n")
	for i := range 9 {
		fmt.Fprintf(&text, "cors-origins: &a%d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := parseConfig("laughs.yaml", []byte(text.String()), modelOf(t)); err == nil || !strings.Contains(err.Error(), "laughs.yaml:2: ") {
			t.Errorf("%v, want an error that names line 2", err)
		}
	})
	if allocated > 1e6 {
		t.Errorf("%v allocations for %d bytes", allocated, text.Len())
	}
}

// Whatever is in a section is a flag or a command, not either.
func TestConfigKeysAreFlagsOrSections(t *testing.T) {
	var check func(n *kong.Node)
	check = func(n *kong.Node) {
		flags := flagsBelow(n)
		for _, child := range n.Children {
			if configurable(child) && len(flags[child.Name]) > 0 {
				t.Errorf("%q is a flag and a command in the section %q", child.Name, sectionName(n))
			}
			check(child)
		}
		for name, of := range flags {
			for _, f := range of {
				if isSecret(f.Flag) && slices.ContainsFunc(slices.Collect(maps.Keys(flags)), func(other string) bool { return other == name+"-file" }) {
					t.Errorf("the secret --%s and a flag --%s-file share a variable", name, name)
				}
			}
		}
	}
	check(modelOf(t).Node)
}

func FuzzConfigFile(f *testing.F) {
	for _, seed := range []string{
		"", "api-rate: 3\nserve: {db: a, cors-origins: [a, b]}", "a: &a [*a]", "? [a]\n: b", "import:\n  lakes:\n    map: a=b\n",
		"serve: &s {api-rate: 1}\nwarm: *s", "<<: {api-rate: 1}", "\"\\u0000\": 1", "refresh-every: 0 5 * * 1", "- - - -", "--- a\n...\n--- b", "%YAML 9.9\n---\n",
	} {
		f.Add([]byte(seed))
	}
	app := modelOf(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxConfigFile {
			return
		}
		c, err := parseConfig("fuzz.yaml", text, app)
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz.yaml") {
			t.Errorf("error %q does not name the file", err)
		}
		if err == nil && c == nil {
			t.Error("neither a configuration nor an error")
		}
	})
}
