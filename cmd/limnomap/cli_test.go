package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/apikey"
)

func TestCommandLine(t *testing.T) {
	tests := []struct {
		name string
		args []string
		env  string // of LIMNOMAP_STALE_AFTER
		want string // in the error
	}{
		{"unknown flag", []string{"serve", "--colour"}, "", "unknown flag --colour (see limnomap help serve)"},
		{"mistyped flag, far from another", []string{"serve", "--base-map-labels=x"}, "", "did you mean --basemap-labels-url?"},
		{"mistyped flag, like another", []string{"serve", "--basemap-lables-url=x"}, "", `did you mean "--basemap-labels-url"?`},
		{"mistyped command", []string{"serv"}, "", `unexpected argument serv, did you mean "serve"?`},
		{"mistyped command below another", []string{"keys", "lst"}, "", `did you mean "list"? (see limnomap help keys)`},
		{"profile", []string{"serve", "--profile", "who1999"}, "", `"who2003","who2021","uba2015"`},
		{"stale after", []string{"serve", "--stale-after", "36h"}, "", "--stale-after"},
		{"sample prefer", []string{"serve", "--sample-prefer", "36h"}, "", "--sample-prefer"},
		{"sample prefer, negative", []string{"serve", "--sample-prefer", "-1d"}, "", "--sample-prefer"},
		{"weeks", []string{"serve", "--weeks", "0"}, "", "--weeks 0"},
		{"oldest week", []string{"serve", "--oldest-week", "1.5.2020"}, "", "--oldest-week"},
		{"environment", []string{"serve"}, "soon", "soon"},
		{"size", []string{"serve", "--cache-memory", "64 sheep"}, "", "64 sheep"},
		{"base path", []string{"serve", "--base-path", "lakes"}, "", "--base-path"},
		{"HSTS over HTTP", []string{"serve", "--hsts", "365d"}, "", "--hsts needs --tls-cert"},
		{"metrics key of the demo", []string{"serve", "--metrics-key"}, "", "--metrics-key needs --db"},
		{"admin host without listener", []string{"serve", "--admin-host", "metrics.example.org"}, "", "--admin-host needs --admin-listen"},
		{"metrics key without need", []string{"serve", "--metrics-key", "--db", "x", "--admin-listen", ":0"}, "", "--metrics-key with --admin-listen"},
		{"scope", []string{"keys", "create", "--name", "x", "--db", "x", "--scope", "all"}, "", "monitor or metrics"},
		{"overlap", []string{"keys", "rotate", "x", "--db", "x", "--overlap", "soon"}, "", "--overlap"},
		{"public URL", []string{"serve", "--public-url", "example.org"}, "", "--public-url"},
		{"zoom", []string{"serve", "--max-zoom", "30"}, "", "--max-zoom"},
		{"rate", []string{"serve", "--tile-rate", "-1"}, "", "--tile-rate"},
		{"proxy", []string{"serve", "--trusted-proxies", "10.0.0.0"}, "", "10.0.0.0"},
		{"no database", []string{"serve", "--db", "absent.db"}, "", "absent.db"},
		{"no address", []string{"serve", "--listen", ""}, "", "--listen"},
		{"basemap", []string{"serve", "--basemap-url", "https://tiles.example.org/{z}"}, "", "--basemap-url"},
		{"labels of a basemap", []string{"serve", "--basemap-labels-url", "https://tiles.example.org/{z}"}, "", "--basemap-labels-url"},
		{"labels without a basemap", []string{"serve", "--basemap-labels-url", "https://tiles.example.org/{z}/{x}/{y}", "--basemap-url", "none"}, "", "--basemap-labels-url needs a --basemap-url"},
		{"origin", []string{"serve", "--cors-origins", "maps.example.org"}, "", "--cors-origins"},
		{"frame ancestors", []string{"serve", "--frame-ancestors", "https://example.org;script-src"}, "", "--frame-ancestors"},
		{"frame ancestors that exclude each other", []string{"serve", "--frame-ancestors", "none,self"}, "", "--frame-ancestors"},
		{"credentials", []string{"serve", "--public-url", "https://a:b@example.org"}, "", "--public-url"},
		{"key that is never valid", []string{"keys", "create", "--db", "absent.db", "--name", "a", "--expires", "0d"}, "", "--expires"},
		{"key name", []string{"keys", "create", "--db", "absent.db", "--name", "\n"}, "", "--name"},
		{"no server", []string{"healthcheck", "--listen", "127.0.0.1:1"}, "", "127.0.0.1:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.env != "" {
				t.Setenv("LIMNOMAP_STALE_AFTER", tt.env)
			}
			_, _, err := runCommand(t, tt.args...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("limnomap %s: %v, want an error that contains %q", strings.Join(tt.args, " "), err, tt.want)
			}
		})
	}
}

// An error about a file names the file, and not the words of the parser.
func TestMissingFiles(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent.csv")
	folder := t.TempDir()
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"import", "lakes", absent, "--db", "x.db"}, absent + ": no such file or directory"},
		{[]string{"import", "observations", absent, "--db", "x.db"}, absent + ": no such file or directory"},
		{[]string{"import", "rasters", absent, "--db", "x.db"}, absent + ": no such file or directory"},
		{[]string{"import", "rasters", "cli_test.go", "--csv", "x.csv", "--lakes", absent}, absent + ": no such file or directory"},
		{[]string{"import", "lakes", folder, "--db", "x.db"}, strconv.Quote(folder) + " exists but is a directory"},
	} {
		_, _, err := runCommand(t, tt.args...)
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) || strings.Contains(err.Error(), "<file>") || strings.Contains(err.Error(), "stat ") {
			t.Errorf("limnomap %s: %v, want %s", strings.Join(tt.args, " "), err, tt.want)
		}
	}
}

// A port that is in use is called so, with one to use instead.
func TestTakenPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	mustDo(t, err)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	for _, flag := range []string{"--listen", "--admin-listen"} {
		args := []string{"serve", "--listen", "127.0.0.1:0", "--cache-dir", t.TempDir(), flag, l.Addr().String()}
		want := fmt.Sprintf("%s 127.0.0.1:%d: another program uses this port: choose another one, such as %[1]s 127.0.0.1:%[3]d", flag, port, port%65535+1)
		if _, _, err := runCommand(t, args...); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"import", "lakes", "--help"}, {"keys", "create", "--help"}, {"demo", "--help"}, {"warm", "--help"}, {"export", "--help"}, {"cache", "purge", "--help"}} {
		out := mustRun(t, args...)
		if !strings.Contains(out, "Usage: limnomap") || len(out) < 300 {
			t.Errorf("the help of limnomap %s is too short:\n%s", strings.Join(args, " "), out)
		}
	}
	serve := mustRun(t, "serve", "--help")
	for _, flag := range []string{"--listen", "--db", "--cache-dir", "--cache-memory", "--cache-disk", "--cache-min-free", "--api-rate", "--tile-rate", "--key-rate", "--trusted-proxies", "--public-url",
		"--base-path", "--max-zoom", "--stale-after", "--weeks", "--profile", "--admin-listen", "--basemap-url", "--basemap-labels-url", "--log-format", "--log-level", "--tls-cert", "--tls-key", "--frame-ancestors"} {
		env := "$LIMNOMAP_" + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_"))
		if !strings.Contains(serve, flag) || !strings.Contains(serve, env) {
			t.Errorf("serve --help lacks %s or %s", flag, env)
		}
	}
	version := mustRun(t, "version")
	if !strings.HasPrefix(version, "limnomap ") {
		t.Errorf("version = %q", version)
	}
	for _, same := range []struct{ args, as []string }{
		{nil, []string{"--help"}}, {[]string{"help"}, []string{"--help"}}, {[]string{"help", "serve"}, []string{"serve", "--help"}},
		{[]string{"help", "import", "lakes"}, []string{"import", "lakes", "--help"}}, {[]string{"-v"}, []string{"version"}}, {[]string{"--version"}, []string{"version"}},
	} {
		if got, want := mustRun(t, same.args...), mustRun(t, same.as...); got != want {
			t.Errorf("limnomap %q prints\n%s\nwant what %q prints", same.args, got, same.as)
		}
	}
	help := mustRun(t)
	for _, group := range []string{"\nServe:\n  serve ", "\nBring data in:\n  import ", "\nTake data out:\n  export ", "\nOperate:\n  warm "} {
		if !strings.Contains(help, group) {
			t.Errorf("the help lacks the group %q:\n%s", group, help)
		}
	}
}

// Names of earlier versions are errors that say what to use, on the command line, in the environment and in a file.
func TestRenamed(t *testing.T) {
	flags, commands := make(map[string]bool), make(map[string]bool)
	config.EachFlag(modelOf(t).Node, func(n *kong.Node, f *kong.Flag) { flags["--"+f.Name], commands[config.CommandName(n)] = true, true })
	for name, now := range renamed() {
		if flags[name] || commands[name] {
			t.Errorf("%s is in the table of old names and exists", name)
		}
		args, file := strings.Fields(name), ""
		if flag, ok := strings.CutPrefix(name, "--"); ok {
			args, file = []string{"serve", name + "=1"}, flag+": 1\n"
			variable := "LIMNOMAP_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
			t.Run(variable, func(t *testing.T) {
				t.Setenv(variable, "1")
				if _, _, err := runCommand(t, "config"); err == nil || !strings.Contains(err.Error(), now) {
					t.Errorf("%s: %v, want %q in the error", variable, err, now)
				}
			})
		} else {
			for i, word := range args {
				file += strings.Repeat("  ", i) + strings.TrimPrefix(word, "--") + ":\n"
			}
			file += strings.Repeat("  ", len(args)) + "db: a.db\n"
		}
		if _, _, err := runCommand(t, args...); err == nil || !strings.Contains(err.Error(), now) {
			t.Errorf("limnomap %q: %v, want %q in the error", args, err, now)
		}
		if _, _, err := runCommand(t, "config", "--config", configured(t, file)); err == nil || !strings.Contains(err.Error(), now) {
			t.Errorf("a file with %q: %v, want %q in the error", file, err, now)
		}
	}
}

func TestKeyState(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		key  apikey.Key
		want string
	}{
		{apikey.Key{}, "valid"},
		{apikey.Key{ExpiresAt: now.Add(time.Second)}, "valid"},
		{apikey.Key{ExpiresAt: now}, "expired"},
		{apikey.Key{ExpiresAt: now.Add(time.Hour), RevokedAt: now.Add(-time.Hour)}, "revoked"},
	}
	for _, tt := range tests {
		if got := keyState(tt.key, now); got != tt.want {
			t.Errorf("keyState(%+v) = %s, want %s", tt.key, got, tt.want)
		}
	}
}

func TestListKeys(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	keys := []apikey.Key{
		{Name: "agency", Scopes: apikey.ScopeMonitor, CreatedAt: now.Add(-time.Hour), ExpiresAt: now.Add(time.Hour), UsedAt: now.Add(-time.Minute)},
		{Name: "prometheus", Scopes: apikey.ScopeMetrics, CreatedAt: now, RevokedAt: now},
	}
	var table, list bytes.Buffer
	mustDo(t, listKeys(&table, keys, now))
	const wantTable = `NAME        STATE    SCOPES   CREATED               EXPIRES               REVOKED               LAST USED
agency      valid    monitor  2026-05-01T11:00:00Z  2026-05-01T13:00:00Z  -                     2026-05-01T11:59:00Z
prometheus  revoked  metrics  2026-05-01T12:00:00Z  -                     2026-05-01T12:00:00Z  -
`
	if table.String() != wantTable {
		t.Errorf("table:\n%s\nwant\n%s", &table, wantTable)
	}
	mustDo(t, listKeysJSON(&list, keys, now))
	var got []map[string]any
	if err := json.Unmarshal(list.Bytes(), &got); err != nil || len(got) != 2 {
		t.Fatalf("JSON: %v\n%s", err, &list)
	}
	want := map[string]any{"name": "prometheus", "state": "revoked", "scopes": []any{"metrics"}, "created_at": "2026-05-01T12:00:00Z",
		"expires_at": nil, "revoked_at": "2026-05-01T12:00:00Z", "last_used_at": nil}
	if !reflect.DeepEqual(got[1], want) || got[0]["last_used_at"] != "2026-05-01T11:59:00Z" {
		t.Errorf("JSON = %v, want %v", got, want)
	}
	list.Reset()
	if err := listKeysJSON(&list, nil, now); err != nil || list.String() != "[]\n" {
		t.Errorf("JSON of no keys = %q, %v, want an empty list", &list, err)
	}
}
