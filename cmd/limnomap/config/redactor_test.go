package config

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// credentialShapes are ways to write a user and a password, most of them wrong. %s is the password.
var credentialShapes = []string{
	"postgres://u:%s@h/d", "postgresql://u:%s@h:5432/d?sslmode=disable", "postgre://u:%s@h/d", "postgres:/u:%s@h/d", "postgres//u:%s@h/d", "postgres:///u:%s@h/d",
	"postgresql:u:%s@h", "POSTGRES://u:%s@h/d", " postgres://u:%s@h/d", "postgres ://u:%s@h/d", "postgres:// u:%s@h/d", `postgres:\\u:%s@h`, "postgres;//u:%s@h",
	"postgres://:%s@h", "postgres://u:%s@", "//u:%s@h/d", "u:%s@h:5432", "u:%s@h/d", ":%s@h", "redis:u:%s@h", "redis://:%s@h/1", "http:/u:%s@h/x", "https//u:%s@h/x",
	"https:u:%s@h", "ht tp://u:%s@h/x", "https://u:%s@h/x?a=b", "ftp://u:%s@h/x", "password=%s", "host=h user=u password=%s", "host=h password = %s", "host=h password='%s' user=u", "host=h passphrase=%s",
	"tcp(u:%s@h)", "jdbc:postgresql://u:%s@h/d", "file:u:%s@h/d?x=y", `u\:%s@h`,
}

// drawPassword draws a password with characters that delimit the parts of a URL, an error and a line of the log.
func drawPassword(t *rapid.T) string {
	const letters = "bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ0123456789"
	return rapid.StringOfN(rapid.RuneFrom([]rune(letters)), minKnown, 12, -1).Draw(t, "start") +
		rapid.StringOfN(rapid.RuneFrom([]rune(letters+letters+"@/:#?&%=+ '\"\\`<>;.,ßü€😀")), 0, 12, -1).Draw(t, "rest") +
		rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 1, 3, -1).Draw(t, "end")
}

// asWritten are the ways in which errors and logs write a value.
func asWritten(value string) map[string]string {
	texts := map[string]string{
		"text":       "unexpected argument " + value + " (--help)",
		"quoted":     fmt.Sprintf("--db %q: want a number", value),
		"twice":      fmt.Sprintf("%q", fmt.Sprintf("--db %q", value)),
		"escaped":    "GET " + url.PathEscape(value) + " and " + url.QueryEscape(value),
		"as a whole": value,
	}
	for _, format := range []string{"text", "json"} {
		var log bytes.Buffer
		var handler slog.Handler = slog.NewTextHandler(&log, nil)
		if format == "json" {
			handler = slog.NewJSONHandler(&log, nil)
		}
		slog.New(handler).Error("failed: "+value, "value", value, "error", fmt.Errorf("%q: %w", value, errors.New(value)))
		texts[format+" log"] = log.String()
	}
	return texts
}

// shows reports whether text has the password, as it is or in quotes or escapes.
func shows(text, password string) bool {
	quoted := strconv.Quote(password)
	for _, form := range []string{password, quoted[1 : len(quoted)-1], url.PathEscape(password), url.QueryEscape(password)} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

// A password in a value of any setting is not shown with that value, however errors write it.
func TestRedactorHidesSettings(t *testing.T) {
	for _, shape := range credentialShapes {
		rapid.Check(t, func(t *rapid.T) {
			password := drawPassword(t)
			value := strings.Replace(shape, "%s", password, 1)
			for place, r := range map[string]*Redactor{
				"argument":    NewRedactor([]string{"serve", value}, nil),
				"flag":        NewRedactor([]string{"serve", "--db=" + value}, nil),
				"environment": NewRedactor(nil, []string{"LIMNOMAP_DB=" + value}),
			} {
				for how, text := range asWritten(value) {
					if got := r.Redact(text); shows(got, password) {
						t.Fatalf("%s, %s: %s becomes %s", place, how, text, got)
					}
				}
			}
		})
	}
}

// A password that is in no setting is hidden too, where it looks like one. It has no spaces or quotes, of which no one can know
// whether they belong to it.
func TestRedactHidesOthers(t *testing.T) {
	for _, shape := range credentialShapes {
		if strings.Contains(shape, ":// ") {
			continue
		}
		rapid.Check(t, func(t *rapid.T) {
			password := strings.NewReplacer(" ", "", `"`, "", `\`, "", "'", "", "`", "", "&", "").Replace(drawPassword(t))
			value := strings.Replace(shape, "%s", password, 1)
			for how, text := range asWritten(value) {
				if how == "escaped" { // without the characters that show what it is
					continue
				}
				if got := Redact(text); shows(got, password) {
					t.Fatalf("%s: %s becomes %s", how, text, got)
				}
			}
		})
	}
}

// However often passwords change, those of the first, of the present and of the previous settings are hidden, and not too many texts are
// searched for.
func TestRedactorForgetsTheOldest(t *testing.T) {
	r := NewRedactor([]string{"serve", "--db=postgres://u:First-0@h/d"}, nil)
	password := func(i int) string { return fmt.Sprintf("Rotated-%04d", i) }
	const rotations = 2 * maxAdopted
	for i := range rotations {
		next := NewRedactor(nil, []string{"LIMNOMAP_DB=postgres://u:" + password(i) + "@h/d"})
		r.Adopt(next)
		r.Adopt(next) // a reload without a change
		r.Adopt(r)
		for _, present := range []string{"First-0", password(i), password(max(i-1, 0))} {
			if shows(r.Redact("refused "+present+" today"), present) {
				t.Fatalf("after %d rotations %s is not hidden", i+1, present)
			}
		}
	}
	if n := len(*r.known.Load()); n > 2*maxAdopted {
		t.Errorf("after %d rotations the Redactor looks for %d texts", rotations, n)
	}
}

// What is no secret stays readable, whatever the settings are.
func TestRedactorKeepsTexts(t *testing.T) {
	r := NewRedactor([]string{"serve", "--listen", "127.0.0.1:8080", "--listen=[::1]:80", "--db", "/var/lib/limnomap/lakes@home.db", "--attribution", "Contact: lakes@example.org",
		"--basemap-url", "https://tiles.example.org:8080/{z}/{x}/{y}@2x.png", "--public-url=https://lakes.example.org/map", "--redis", "redis://limnomap@cache:6379"},
		[]string{"LIMNOMAP_DB=postgres://limnomap@database:5432/lakes", "LIMNOMAP_REFRESH_EVERY=0 5 * * 1", "PATH=/usr/bin:/home/me@work/bin"})
	for _, text := range []string{
		"want redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or postgres://USER:PASSWORD@HOST",
		"time=2026-11-22T20:12:26.101Z level=INFO msg=serving db=database:5432/lakes open=http://127.0.0.1:8080/",
		"mail to lakes@example.org, at 12:30 or at [::1]:80",
		"path=/api/v1/tiles/6/33/21@2x.png status=200 client=[2001:db8::1]:443",
		"unexpected argument lakes@home.db: want a folder", "token is not valid", "the key of agency", "mailto:lakes+push@example.org", `--push-contact "mailto:lakes@example.org": want`, `{"msg":"x","to":"me@example.org","n":5}`,
		"/var/lib/limnomap/lakes@home.db: no such file", "github.com/x/y@v1.2.3/z.go:45 +0x1", "Müggelsee, بحيرة",
	} {
		if got := r.Redact(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
	if known := r.known.Load(); len(*known) > 0 {
		t.Errorf("these settings have no password, but the Redactor hides %q", *known)
	}
}

// What text costs that looks like a password, but is none.
func TestRedactHidesTooMuch(t *testing.T) {
	for text, want := range map[string]string{
		"mailto:me:you@example.org":                "mailto:•••@example.org",
		"at 12:30@home":                            "at 12:•••@home",
		"http://127.0.0.1:8080/{z}/{x}/{y}@2x.png": "http://•••@2x.png",
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRedactorEscapes(t *testing.T) {
	const text = "lake \u202eB\x1b[2J\u009b\r\u200f: wrong\n\tline \x9b2J\xc3 \ufffd"
	if got, want := Redacted(text), `lake \u202eB\u001b[2J\u009b\u000d\u200f: wrong`+"\n\tline "+`\x9b2J\xc3 `+"\ufffd"; got != want {
		t.Errorf("Redact(%q) = %q, want %q", text, got, want)
	}
}

func TestCommandLine(t *testing.T) {
	inv := &Invocation{args: []string{"serve", "--db=postgres:/u:hunter2 x@h", "--api-rate", "5"}}
	inv.Redactor = NewRedactor(inv.args, nil)
	if got, want := inv.CommandLine(), "limnomap\x00serve\x00--db=•••\x00--api-rate\x005"; got != want {
		t.Errorf("CommandLine() = %q, want %q", got, want)
	}
}
