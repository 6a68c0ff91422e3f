package swimguide_test

import (
	"strings"
	"testing"
	"time"

	"limnomap/data/swimguide"
)

// written returns a document with these records.
func written(issued time.Time, records ...swimguide.Record) ([]byte, error) {
	content, err := swimguide.AppendHead(nil, issued)
	for i := range records {
		if i > 0 {
			content = append(content, swimguide.Between...)
		}
		if err == nil {
			content, err = records[i].Append(content)
		}
	}
	return append(content, swimguide.Tail...), err
}

func TestAppendRejects(t *testing.T) {
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
