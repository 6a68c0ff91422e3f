package config

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"limnomap/data/apikey"
)

func TestRedact(t *testing.T) {
	const key = apikey.Prefix + "VC2YXMMZG6YFK4YPT4DM4WIUTO"
	for text, want := range map[string]string{
		"unexpected argument postgres://me:hunter2@db/lakes (--help)":   "unexpected argument postgres://•••@db/lakes (--help)",
		`"https://a:p@ss/word@h/x" is wrong`:                            `"https://•••@h/x" is wrong`,
		`"rediss://:hunter2@h" and ftp://u:p@h`:                         `"rediss://•••@h" and ftp://•••@h`,
		"host=db password=hunter2 user=me":                              "host=db password=••• user=me",
		"host=db passphrase=hunter2 user=me":                            "host=db passphrase=••• user=me",
		"/page?pwd=hunter2&x=1":                                         "/page?pwd=•••&x=1",
		"https://h/x?a=1&token=hunter2&b=2":                             "https://h/x?a=1&token=•••&b=2",
		"path=/api/v1/monitor/lakes/" + key + " status=404":             "path=/api/v1/monitor/lakes/limnomap_••• status=404",
		"path=/api/v1/tiles/6/33/21@2x.png open=http://127.0.0.1:8080/": "path=/api/v1/tiles/6/33/21@2x.png open=http://127.0.0.1:8080/",
		"limnomap_build_info, limnomap_tile_disk_failing":               "limnomap_build_info, limnomap_tile_disk_failing",
		"api_key=abc&API-KEY":                                           "api_key=•••&API-KEY",
		"host=db password='p@ss hunter2' user=me":                       "host=db password=•••' user=me",
		`host=db password="p@ss hunter2" user=me`:                       `host=db password=•••" user=me`,
		"--listen https://h/x?X-Amz-Signature=hunter2&a=b":              "--listen https://h/x?X-Amz-Signature=•••&a=b",
		"unexpected argument me:hunter2@db:5432":                        "unexpected argument me:•••@db:5432",
		"key=agency client=[2001:db8::1]:443 to=me@example.org":         "key=agency client=[2001:db8::1]:443 to=me@example.org",
		// An error that describes the form of a URL stays readable.
		"want redis://[USER:PASSWORD@]HOST, or postgres://USER:PASSWORD@HOST": "want redis://[USER:PASSWORD@]HOST, or postgres://USER:PASSWORD@HOST",
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
		for _, format := range []string{"text", "json"} {
			var log bytes.Buffer
			var handler slog.Handler = slog.NewTextHandler(RedactingWriter{Writer: &log, Redactor: new(Redactor)}, nil)
			if format == "json" {
				handler = slog.NewJSONHandler(RedactingWriter{Writer: &log, Redactor: new(Redactor)}, nil)
			}
			slog.New(handler).Info("tried", "what", text)
			for _, secret := range []string{"hunter2", key, "p@ss", "u:p"} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log (%s) shows %s: %s", format, secret, &log)
				}
			}
		}
	}
}

func TestSecretsIn(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"serve", "--db", "postgres://me:hunter2@h/db"}, []string{"db"}},
		{[]string{"serve", "--redis=redis://:hunter2@h", "--db", "lakes.db"}, []string{"redis"}},
		{[]string{"refresh", "--from", "https://h/x?token=1", "--from=https://a:b%zz@h"}, []string{"from", "from"}},
		{[]string{"serve", "postgres://me:hunter2@h/db"}, []string{"an argument"}},
		{[]string{"serve", "--contact-url=https://h/x?token=hunter2%j"}, []string{"contact-url"}},
		{[]string{"refresh", "--from", "https://hunter2@h/x", "--db=host=h password=hunter2", "--redis", "me:hunter2@h"}, []string{"from", "db", "redis"}},
		{[]string{"serve", "--db", "postgres://me@h/db", "--basemap-url", "https://h/{z}/{x}/{y}@2x.png", "--skip-bad", "a@b", "--listen", "[::1]:80"}, nil},
	} {
		if got := SecretsIn(tt.args); !slices.Equal(got, tt.want) {
			t.Errorf("SecretsIn(%q) = %q, want %q", tt.args, got, tt.want)
		}
	}
}

// Redacting a text again changes nothing, and a secret after any text is hidden.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"", "postgres://u:p@h/db", "a://b://c@d@e f@g", "password=x token=y&z", apikey.Prefix + "VC2YXMMZG6YFK4YPT4DM4WIUTO", "\xff://\xff@", `"://'@`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Redact(text)
		if again := Redact(once); again != once {
			t.Fatalf("%q becomes %q and then %q", text, once, again)
		}
		const secret = "x://me:hunter2@h password=hunter2 " + apikey.Prefix + "VC2YXMMZG6YFK4YPT4DM4WIUTO"
		if got := Redact(text + " " + secret); strings.Count(got, "VC2YXMMZ") > strings.Count(text, "VC2YXMMZ") || strings.Count(got, "hunter2") > strings.Count(text, "hunter2") {
			t.Fatalf("%q shows a secret: %q", text, got)
		}
	})
}
