package record

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStringsAreWrittenAsEncodingJSONDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		})).Draw(t, "s")
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, s); string(got) != string(want) {
			t.Fatalf("appendString(%q) = %s, want %s", s, got, want)
		}
	})
}

func TestCells(t *testing.T) {
	for text, want := range map[string]string{
		"Müritz": "Müritz", "a, b": `"a, b"`, `der "See"`: `"der ""See"""`, "a;b": `"a;b"`, " a": `" a"`, "a ": `"a "`,
		"=1+1": "=1+1", "+49": "+49", "-": "-", "@a": "@a", "": "",
	} {
		if got := string(appendCell(nil, text)); got != want {
			t.Errorf("cell of %q = %s, want %s", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(rapid.StringMatching(`[a-zä=", ;|'\\\t-]{0,6}`), 2, 4).Draw(t, "cells")
		var line []byte
		for _, c := range cells {
			line = append(appendCell(line, c), ',')
		}
		rows, err := csv.NewReader(strings.NewReader(string(line) + lineEnd)).ReadAll()
		if err != nil || len(rows) != 1 || !slices.Equal(rows[0][:len(cells)], cells) {
			t.Fatalf("%q are read as %q, %v", cells, rows, err)
		}
	})
}
