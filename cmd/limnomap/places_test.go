package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/gazetteer"
)

func TestPlaces(t *testing.T) {
	folder := t.TempDir()
	places, err := gazetteer.Read(strings.NewReader("name,lat,lon,postcode\nNuuk,64.18,-51.72,3900\nSisimiut,66.94,-53.67,3911\n"))
	mustDo(t, err)
	text, err := gazetteer.Encode(places, "Our list")
	mustDo(t, err)
	if got, err := readPlaces(limnomaptest.WriteFile(t, folder, "places.json", string(text))); err != nil || !bytes.Equal(got, text) {
		t.Errorf("the list is %q, %v", got, err)
	}
	for name, want := range map[string]string{
		limnomaptest.WriteFile(t, folder, "towns.csv", "name,lat,lon\n"): "docs/importing.md says how",
		filepath.Join(folder, "none.json"):                               "none.json",
	} {
		if _, _, err := runCommand(t, "serve", "--places", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--places %s: the error is %v, want %q in it", name, err, want)
		}
	}
}
