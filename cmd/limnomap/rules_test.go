package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Origins and the public address are compared with what clients send: they are written as those write them, or refused.
func TestCanonicalOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"https://maps.example.org":          "https://maps.example.org",
		"https://maps.example.org:443":      "https://maps.example.org",
		"http://maps.example.org:80":        "http://maps.example.org",
		"http://maps.example.org:443":       "http://maps.example.org:443",
		"HTTPS://Maps.Example.org:8443":     "https://maps.example.org:8443",
		"https://*.example.org:443":         "https://*.example.org",
		"https://Preview-*.example.org":     "https://preview-*.example.org",
		"https://*.*.example.org":           "",
		"http://[2001:DB8::1]:80":           "http://[2001:db8::1]",
		"https://xn--mritz-kva.example":     "https://xn--mritz-kva.example",
		"capacitor://localhost":             "capacitor://localhost",
		"*":                                 "*",
		"https://müritz.example":            "",
		"https://maps.example.org/":         "",
		"https://maps.example.org:":         "",
		"https://maps.example.org:0443":     "",
		"https://user@maps.example.org":     "",
		"https://maps.example.org?x":        "",
		"maps.example.org":                  "",
		"maps.example.org:443":              "",
		"https://":                          "",
		"https://*":                         "https://*",
		"null":                              "",
		"capacitor://localhost/":            "",
		"https://maps.example.org, https:x": "",
	} {
		got, err := canonicalOrigin(text)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("canonicalOrigin(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestParsePublicURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://Lakes.Example:443":         "https://lakes.example",
		"http://lakes.example:80/map":       "http://lakes.example/map",
		"HTTP://lakes.example:8080/":        "http://lakes.example:8080/",
		"http://127.0.0.1:443":              "http://127.0.0.1:443",
		"https://lakes_1:8443":              "https://lakes_1:8443",
		"https://seen.müritz.example/karte": "",
		"https://lakes.example:x":           "",
		"https://lakes .example":            "",
		"ftp://lakes.example":               "",
		"https://lakes.example?x":           "",
	} {
		u, err := parsePublicURL(text)
		got := ""
		if err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("parsePublicURL(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}

// A webhook whose address would never be reached is refused when it is created.
func TestHooksThatAreNeverReached(t *testing.T) {
	db := filepath.Join(t.TempDir(), "lakes.db")
	lakes := filepath.Join(t.TempDir(), "lakes.csv")
	mustDo(t, os.WriteFile(lakes, []byte("id,name,lat,lon\na,A,50,10\n"), 0o600))
	if _, _, err := runCommand(t, "import", "lakes", lakes, "--db", db); err != nil {
		t.Fatal(err)
	}
	for address, reached := range map[string]bool{
		"https://127.0.0.1/x": false, "https://localhost:8443/": false, "https://a.localhost./": false, "https://[::1]/": false, "https://10.1.2.3/": false,
		"https://192.168.0.1/": false, "https://2130706433/": false, "https://0x7f000001/": false, "https://169.254.169.254/": false, "https://[fd00::1]/": false,
		"https://metadata.google.internal/": false, "https://127。0。0。1/": false, "https://[::ffff:7f00:1]/": false, "https://127.1/": false, "https://example.org/lakes": true, "https://203.0.114.7/": true,
	} {
		_, _, err := runCommand(t, "hooks", "create", "--db", db, "--url", address)
		if (err == nil) != reached || err != nil && !strings.Contains(err.Error(), "--hooks-allow") {
			t.Errorf("%s: %v, want it taken: %v", address, err, reached)
		}
	}
	for _, args := range [][]string{{"https://127.0.0.1:8443/", "127.0.0.0/8"}, {"https://localhost/", "::1/128"}, {"https://10.1.2.3/", "10.0.0.0/8"}} {
		if _, _, err := runCommand(t, "hooks", "create", "--db", db, "--url", args[0], "--hooks-allow", args[1]); err != nil {
			t.Errorf("%s with --hooks-allow %s: %v", args[0], args[1], err)
		}
	}
}

// A placeholder that nothing fills in would stop the page.
func TestCheckBasemapURL(t *testing.T) {
	for text, want := range map[string]string{ // part of the error; empty: none
		"none": "",
		"https://{s}.tiles.example.org/{z}/{x}/{y}{r}.png":              "",
		"https://tiles.example.org/wmts/{z}/{y}/{x}?key=a%7Bb":          "",
		"https://tiles.example.org/{z}/{x}":                             "{y}",
		"https://tiles.example.org/{z}/{x}/{y}.png?apikey={apikey}":     `"{apikey}"`,
		"https://tiles.example.org/{z}/{x}/{-y}.png":                    "{y}",
		"https://tiles.example.org/{z}/{x}/{y}/{-y}.png":                `"{-y}`,
		"https://tiles.example.org/{z}/{x}/{y}.png?t={ time }":          `"{ time }"`,
		"https://tiles.example.org/${z}/{x}/{y}.png?key={{key}}":        `"{{key}}"`,
		"https://tiles.example.org/{TileMatrix}/{x}/{y}.png?level={z}":  `"{TileMatrix}`,
		"https://tiles.example.org/{z}/{x}/{y}.png?a=}":                 `"}"`,
		"https://tiles.example.org/{z}/{x}/{y}.png?token=geheim&k={k}x": "{k}x",
	} {
		err := checkBasemapURL(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("checkBasemapURL(%q): %v; want %q", text, err, want)
		}
	}
}
