package swimguide_test

import (
	"strings"
	"testing"

	"limnomap/data/swimguide"
)

// A document that is written record by record is that of Append.
func TestDocumentInParts(t *testing.T) {
	records := []swimguide.Record{record(), changed("de.example/2", "03", fine)}
	want, err := swimguide.Append(nil, at("2026-07-02T08:00:00Z"), records)
	if err != nil {
		t.Fatal(err)
	}
	got, err := swimguide.AppendHead(nil, at("2026-07-02T08:00:00Z"))
	for i := range records {
		if i > 0 {
			got = append(got, swimguide.Between...)
		}
		if err == nil {
			got, err = records[i].Append(got)
		}
	}
	if got = append(got, swimguide.Tail...); err != nil || string(got) != string(want) {
		t.Errorf("parts\n%s(%v), want\n%s", got, err, want)
	}
	if read, _, err := read(string(got)); err != nil || len(read) != 2 {
		t.Errorf("read %d records, %v", len(read), err)
	}
	bad := record()
	bad.Sample.Units = "cells/ml"
	if b, err := bad.Append([]byte("x")); err == nil || !strings.Contains(err.Error(), "units") || string(b) != "x" {
		t.Errorf("an invalid record gives %q, %v", b, err)
	}
}

func TestPublisherOf(t *testing.T) {
	for host, want := range map[string]string{
		"lakes.example.org": "org.example.lakes", "Example.DE.": "de.example", "a-1.bayern": "bayern.a-1",
		"": "", "localhost": "", "127.0.0.1": "", "::1": "", "lakes.international": "", "m\u00fcritz.de": "", "a..de": "", "x/y.de": "",
		strings.Repeat("a", 64) + ".de": "",
	} {
		got, ok := swimguide.PublisherOf(host)
		if ok != (want != "") || ok && got != want {
			t.Errorf("PublisherOf(%q) = %q, %t, want %q", host, got, ok, want)
		}
	}
}
