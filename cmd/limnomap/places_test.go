package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/data/gazetteer"
)

func TestPlaces(t *testing.T) {
	folder := t.TempDir()
	table, out := filepath.Join(folder, "towns.csv"), filepath.Join(folder, "places.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("name,lat,lon,postcode\nNuuk,64.18,-51.72,3900\nSisimiut,66.94,-53.67,3911\n")
	got, _, err := runCommand(t, "places", table, "--out", out, "--credit", "Our list")
	if want := "2 places with 2 postcodes"; err != nil || !strings.Contains(got, want) {
		t.Errorf("it says %q, %v, want %q in it", got, err, want)
	}
	text, err := readPlaces(out)
	if err != nil {
		t.Fatal(err)
	}
	places, credit, err := gazetteer.Decode(text)
	if err != nil || len(places) != 2 || credit != "Our list" {
		t.Errorf("the file has %v of %q, %v", places, credit, err)
	}

	good := filepath.Join(folder, "good.csv")
	if err := os.Rename(table, good); err != nil {
		t.Fatal(err)
	}
	write("name,lat,lon\nNuuk,64.18,-51.72\nSisimiut,north,-53.67\n")
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"a bad row", []string{"places", table, "--out", filepath.Join(folder, "other.json")}, "towns.csv: row 3: column lat"},
		{"a file that is there", []string{"places", good, "--out", out}, "places.json"},
		{"no table", []string{"places", filepath.Join(folder, "none.csv"), "--out", out}, "none.csv"},
		{"no gazetteer", []string{"serve", "--places", table}, "limnomap places makes such a file"},
		{"no file", []string{"serve", "--places", filepath.Join(folder, "none.json")}, "none.json"},
	} {
		if _, _, err := runCommand(t, test.args...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q in it", test.name, err, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "other.json")); err == nil {
		t.Error("a bad table left a file")
	}
}
