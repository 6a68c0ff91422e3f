package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	name := writeConfig(t, `# for all commands
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
  from: ["https://example.org/a,b.csv"]
warm:
export:
  attribution: of exports
  map: {attribution: of maps}
`)
	g, _, err := parse(t, "serve", "--config", name)
	if err != nil {
		t.Fatal(err)
	}
	s := g.Serve
	got := fmt.Sprint(s.DB.Reveal(), g.LogLevel, s.APIRate, s.TrustedProxies, s.Drain, int64(s.CacheMemory), s.CORSOrigins, s.Weeks, *s.CacheMinFree, len(s.From), s.TileRate)
	if want := "lakes.dbDEBUG 64 [10.0.0.0/8] 2s 4194304 [https://maps.example.org https://other.example.org] 52 0 1 6000"; got != want {
		t.Errorf("serve has the settings %s, want %s", got, want)
	}
	if want := "self,https://example.org"; s.FrameAncestors != want {
		t.Errorf("frame ancestors are %s, want %s", s.FrameAncestors, want)
	}
	for args, want := range map[string]string{
		"export lakes.pmtiles": "of maps", "export map lakes.pmtiles": "of maps", "export map lakes.pmtiles --attribution mine": "mine",
	} {
		g, _, err := parse(t, append([]string{"--config", name}, strings.Fields(args)...)...)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Export.Map.Attribution; got != want {
			t.Errorf("%s: attribution %q, want %q", args, got, want)
		}
	}
	if g, _, err := parse(t, "keys", "list", "--config", name); err != nil || g.Keys.List.DB.Reveal() != "lakes.db" {
		t.Errorf("keys list: %v, want the database at the top of the file", err)
	}
}

func TestFileErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key", "api-rat: 3", `:1: unknown key "api-rat": did you mean api-rate?`},
		{"unknown key like none", "\n\nsheep: 3", `:3: unknown key "sheep": want a flag of any command`},
		{"underscore", "serve:\n  api_rate: 3", `:2: unknown key "api_rate" in the section serve: did you mean api-rate?`},
		{"of another command", "warm:\n  api-rate: 3", `:2: unknown key "api-rate" in the section warm: want a flag of limnomap warm`},
		{"section without flags", "version:\n  db: a", `:1: unknown key "version"`},
		{"help", "help: true", `:1: unknown key "help"`},
		{"twice", "api-rate: 3\ntile-rate: 4\napi-rate: 5", `:3: "api-rate" is already in line 1`},
		{"text for a number", "api-rate: many", `:1: api-rate: want a whole number, such as 300`},
		{"quoted number", `api-rate: "300"`, `:1: api-rate: want a whole number, such as 300, without quotes`},
		{"number too large", "api-rate: 99999999999999999999", `:1: api-rate: `},
		{"yes", "skip-bad: yes", `:1: skip-bad: want true or false`},
		{"true for a text", "attribution: true", `:1: attribution: want a text, in quotes if YAML`},
		{"list for a text", "attribution: [a, b]", `:1: attribution: want a text`},
		{"mapping for a text", "db: {user: a, password: geheim}", `:1: db: want a text`},
		{"list in a list", "cors-origins: [[a]]", `:1: cors-origins: want a text`},
		{"text with commas for a list", "cors-origins: https://a.org,https://b.org", `:1: cors-origins: this is one text with commas: want a list`},
		{"no value", "db:", `:1: db: the value is missing: remove the line`},
		{"size", "cache-memory: 64 sheep", `:1: cache-memory: size "64 sheep" is not a number of bytes such as 64MiB`},
		{"of a command that does not run", "warm:\n  days: 9-0", `:2: days in the section warm: size "9-0" is not`},
		{"none of those allowed", "profile: who1999", `:1: profile: "who1999" is none of who2003, who2021`},
		{"of one command and not of the other", "style: [heat, dots]", `if you mean another command, write the key in the section of that command`},
		{"duration without a unit", "drain: 15", `:1: drain: `},
		{"reference", "db: &a lakes.db\nattribution: *a", `:2: attribution: references (*) are not supported`},
		{"reference in a list", "db: &a lakes.db\ncors-origins: [*a]", `:2: cors-origins: references (*) are not supported`},
		{"merge key", "a: &a {b: c}\n<<: *a", `unknown key "a"`},
		{"tag", "db: !!binary aGFsbG8=", `:1: db: want a text`},
		{"key that is a list", "[a]: b", `:1: a key is a word such as api-rate`},
		{"a list", "- api-rate", `:1: want lines such as api-rate: 300`},
		{"a word for a section", "serve: 3", `:1: want lines such as api-rate: 300 in the section serve`},
		{"two documents", "api-rate: 3\n---\napi-rate: 4", "a second document begins"},
		{"no YAML", "api-rate: 3\n\tdb: x", ":2: this is not YAML: "},
		{"too long", "#" + strings.Repeat(" ", maxConfigFile), "is longer than 262144 bytes"},
	}
	app := model(t)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := writeConfig(t, tt.text)
			_, err := readFile(name, app, nil)
			if i == 0 { // once through Parse
				_, _, err = parse(t, "serve", "--config", name)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), name) {
				t.Errorf("%v, want an error that names the file and contains %q", err, tt.want)
			}
			if err != nil && (strings.Contains(err.Error(), "geheim") || strings.Contains(err.Error(), "limnomap --help")) {
				t.Errorf("%v: want neither a secret nor advice on the command line in it", err)
			}
		})
	}
	for name, want := range map[string]string{filepath.Join(t.TempDir(), "absent.yaml"): "no such file", t.TempDir(): "is not a regular file", os.DevNull: "is not a regular file"} {
		if _, _, err := parse(t, "serve", "--config", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--config %s: %v, want an error that contains %q", name, err, want)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "serve:\n", "\ufeffapi-rate: 3\n", "{\"api-rate\": 3}"} {
		if _, _, err := parse(t, "serve", "--config", writeConfig(t, text)); err != nil {
			t.Errorf("%q: %v, want no error", text, err)
		}
	}
}

// A small file that would expand to 10^9 words is rejected at the first reference.
func TestFileOfManyReferences(t *testing.T) {
	var text strings.Builder
	text.WriteString("attribution: &a0 lol\n")
	for i := range 9 {
		fmt.Fprintf(&text, "cors-origins: &a%d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	allocated := testing.AllocsPerRun(1, func() {
		if _, err := parseFile("laughs.yaml", []byte(text.String()), model(t), nil); err == nil || !strings.Contains(err.Error(), "laughs.yaml:2: ") {
			t.Errorf("%v, want an error that names line 2", err)
		}
	})
	if allocated > 1e6 {
		t.Errorf("%v allocations for %d bytes", allocated, text.Len())
	}
}

func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "api-rate: 3\nserve: {db: a, cors-origins: [a, b]}", "a: &a [*a]", "? [a]\n: b", "import:\n  lakes:\n    map: a=b\n",
		"serve: &s {api-rate: 1}\nwarm: *s", "<<: {api-rate: 1}", "\"\\u0000\": 1", "refresh-every: 0 5 * * 1", "- - - -", "--- a\n...\n--- b", "%YAML 9.9\n---\n",
	} {
		f.Add([]byte(seed))
	}
	app := model(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxConfigFile {
			return
		}
		c, err := parseFile("fuzz.yaml", text, app, nil)
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz.yaml") {
			t.Errorf("error %q does not name the file", err)
		}
		if err == nil && c == nil {
			t.Error("neither a configuration nor an error")
		}
	})
}
