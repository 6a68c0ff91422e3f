package main

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestWithoutSecrets(t *testing.T) {
	const key = keyPrefix + "VC2YXMMZG6YFK4YPT4DM4WIUTO"
	for text, want := range map[string]string{
		"unexpected argument postgres://me:hunter2@db/lakes (--help)":   "unexpected argument postgres://<hidden>@db/lakes (--help)",
		`"https://a:p@ss/word@h/x" is wrong`:                            `"https://<hidden>@h/x" is wrong`,
		`"rediss://:hunter2@h" and ftp://u:p@h`:                         `"rediss://<hidden>@h" and ftp://<hidden>@h`,
		"host=db password=hunter2 user=me":                              "host=db password=<hidden> user=me",
		"https://h/x?a=1&token=hunter2&b=2":                             "https://h/x?a=1&token=<hidden>&b=2",
		"path=/api/v1/monitor/lakes/" + key + " status=404":             "path=/api/v1/monitor/lakes/limnomap_<hidden> status=404",
		"path=/api/v1/tiles/6/33/21@2x.png open=http://127.0.0.1:8080/": "path=/api/v1/tiles/6/33/21@2x.png open=http://127.0.0.1:8080/",
		"limnomap_build_info, limnomap_tile_disk_failing":               "limnomap_build_info, limnomap_tile_disk_failing",
		"api_key=abc&API-KEY":                                           "api_key=<hidden>&API-KEY",
	} {
		if got := withoutSecrets(text); got != want {
			t.Errorf("withoutSecrets(%q) = %q, want %q", text, got, want)
		}
		for _, format := range []string{"text", "json"} {
			var log bytes.Buffer
			newLogger(&log, format, slog.LevelDebug).Info("tried", "what", text)
			for _, secret := range []string{"hunter2", key, "p@ss", "u:p"} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log (%s) shows %s: %s", format, secret, &log)
				}
			}
		}
	}
}

func TestSecretFlags(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"serve", "--db", "postgres://me:hunter2@h/db"}, []string{"db"}},
		{[]string{"serve", "--redis=redis://:hunter2@h", "--db", "lakes.db"}, []string{"redis"}},
		{[]string{"refresh", "--from", "https://h/x?token=1", "--from=https://a:b%zz@h"}, []string{"from", "from"}},
		{[]string{"serve", "postgres://me:hunter2@h/db"}, []string{"an argument"}},
		{[]string{"serve", "--db", "postgres://me@h/db", "--basemap-url", "https://h/{z}/{x}/{y}.png", "--skip-bad", "a@b"}, nil},
	} {
		if got := secretFlags(tt.args); !slices.Equal(got, tt.want) {
			t.Errorf("secretFlags(%q) = %q, want %q", tt.args, got, tt.want)
		}
	}
}
