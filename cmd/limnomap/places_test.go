package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestPlaces(t *testing.T) {
	folder := t.TempDir()
	list := filepath.Join("..", "..", "data", "gazetteer", "testdata", "places.json")
	text, err := os.ReadFile(list)
	mustDo(t, err)
	if got, err := readPlaces(list); err != nil || !bytes.Equal(got, text) {
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
