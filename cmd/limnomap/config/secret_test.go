package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecretPrintsAsDots(t *testing.T) {
	type settings struct {
		Key    Secret
		hidden Location
		list   []Secret
	}
	const text = "postgres://u:hunter2@h/d"
	s := settings{NewSecret(text), NewLocation(text), []Secret{NewSecret(text)}}
	asJSON, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("settings", "all", s, "key", s.Key, "where", s.hidden, "list", s.list)
	}
	shown := []string{string(asJSON), log.String(), s.Key.String(), s.hidden.String(), s.hidden.Name(), fmt.Errorf("--db %v", s.Key).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, s.Key), fmt.Sprintf(verb, s.hidden), fmt.Sprintf(verb, s.list))
	}
	hex := fmt.Sprintf("%x", "hunter2")
	for _, out := range shown {
		if strings.Contains(out, "hunter2") || strings.Contains(strings.ToLower(out), hex) {
			t.Errorf("a secret prints as %s", out)
		}
	}
	if s.Key.Reveal() != text || s.Key.String() != dots || new(Secret).String() != "" || new(Secret).IsSet() {
		t.Errorf("the secret is %q and prints as %s", s.Key.Reveal(), s.Key)
	}
}

func TestLocationName(t *testing.T) {
	for text, want := range map[string]string{
		"lakes.db":                    "lakes.db",
		"/var/lib/limnomap@home/a.db": "/var/lib/limnomap@home/a.db",
		"file:lakes@home.db":          "file:lakes@home.db",
		"postgres://limnomap@h/d":     "postgres://limnomap@h/d",
		"https://h/{y}@2x.png":        "https://h/{y}@2x.png",
		"postgres://limnomap:geheim@h:5432/d?sslmode=disable":     dots,
		"postgres://limnomap@h/d?password=geheim&sslmode=require": dots,
		"postgres://limnomap:ge/he?im@h/d":                        dots,
		"postgres://limnomap:ge@he/im@h/d":                        dots,
		"redis://:geheim@h":                                       dots,
		"https://geheim@h/lakes.csv":                              dots,
		"https://h/lakes.csv?token=geheim":                        dots,
		"https://h/lakes.csv?geheim":                              dots,
		"https://h/lakes.csv?token=ge%heim":                       dots,
		"https://h/lakes.csv?mail=a@b&token=geheim":               dots,
		"host=h password=geheim":                                  dots,
		"postgres:/u:geheim@h/d":                                  dots,
		"":                                                        "",
	} {
		if got := NewLocation(text).Name(); got != want {
			t.Errorf("the name of %q is %q, want %q", text, got, want)
		}
	}
}

// A mistyped URL is refused before anything could repeat a part of it, unless there is such a file.
func TestMistypedLocations(t *testing.T) {
	folder := t.TempDir()
	odd := writeFile(t, filepath.Join(folder, "12:30@home"), "")
	for text, want := range map[string]bool{
		"lakes.db": true, "C:\\lakes.db": true, "lakes@home.db": true, "postgres://u:p@h/d": true, "postgres:///d": true, "": true, odd: true,
		"postgres:/u:p@h/d": false, "postgres:/u:p": false, "REDIS:p": false, "u:p@h/d": false, "ht tp://u:p@h": false, "postgres%3A//u%3Ap%40h": false, odd + ".db": false,
	} {
		err := new(Location).UnmarshalText([]byte(text))
		if (err == nil) != want {
			t.Errorf("%q: %v, want it accepted: %v", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), text) {
			t.Errorf("%q: the error repeats it: %v", text, err)
		}
	}
}
