package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBareServerGivesTheBytes(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{"tile.png": "a tile", "status.json": "{}", "status.json.gz": "packed"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	go serveBare(address, folder) // ends with the process
	for _, c := range cases() {
		if c.file == "lakes.geojson" {
			continue
		}
		bare := server{name: "bare", base: "http://" + address, folder: folder, path: func(c benchCase) string { return "/" + c.stored() }}
		var got request
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if got, err = bare.request(t.Context(), c); err == nil || time.Now().After(deadline) {
				break
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if want := bare.base + bare.path(c); got.url != want || got.header.Get("If-None-Match") != "" {
			t.Errorf("%s: wrk is to ask for %s with %v, want %s without a condition", c.name, got.url, got.header, want)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "tile.png"), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := server{base: "http://" + address, folder: folder, path: func(c benchCase) string { return "/" + c.stored() }}
	if r, err := bare.request(t.Context(), cases()[0]); err == nil {
		t.Errorf("request = %v for a server that gives other bytes, want an error", r)
	}
	if _, _, err := fetch(t.Context(), bare.base+"/nothing", http.Header{}); err == nil {
		t.Error("a 404 is no error")
	}
}

func TestCommandLine(t *testing.T) {
	s, err := parse([]string{"-cases", "tile,tile-304", "-serve", "--db lakes.db", "-rounds", "5"}, t.Output())
	if err != nil || len(s.only) != 2 || len(s.serve) != 2 || s.rounds != 5 {
		t.Errorf("parse = %+v, %v, want two cases, two more words for serve and five rounds", s, err)
	}
	for _, args := range [][]string{
		{"-cases", "tiles"}, {"-rounds", "0"}, {"-duration", "1ms"}, {"-connections", "0"}, {"tile"}, {"-unknown"},
	} {
		if s, err := parse(args, t.Output()); err == nil {
			t.Errorf("parse(%q) = %+v, want an error", args, s)
		}
	}
}
