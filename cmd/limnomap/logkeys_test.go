package main

import (
	"cmp"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// All log lines have one key for errors, and durations in milliseconds under a name that says so.
func TestLogKeys(t *testing.T) {
	line := regexp.MustCompile(`\bslog\.|(?i:log|logger)\.(?:Debug|Info|Warn|Error)(?:Context)?\(`)
	wrong := regexp.MustCompile(`"err",|slog\.Duration\(|"took",|, time\.Since\([^()]*(?:\([^()]*\))?\)[,)]|\.Round\(time\.`)
	found := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile("../../" + path)
		if err != nil {
			return err
		}
		for i, text := range strings.Split(string(source), "\n") {
			if !line.MatchString(text) {
				continue
			}
			found++
			if m := wrong.FindString(text); m != "" {
				t.Errorf("%s:%d logs %s: want the key error, and durations as …_ms", path, i+1, m)
			}
		}
		return nil
	})
	if err != nil || found < 80 {
		t.Errorf("%d lines, %v", found, err)
	}
}
