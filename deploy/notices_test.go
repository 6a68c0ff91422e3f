//go:build long

package deploy

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The notices contain the licence of every module, also that of FreeType, which the module names without repeating it, and the
// credit that this licence wants; and the notice of GSHHG with the LGPL and the GPL, which the LGPL wants with each copy.
func TestNotices(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "bash", "go")
	cmd := exec.Command(".ci/notices")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	must(t, err)
	notices := string(out)
	if !utf8.ValidString(notices) {
		t.Error("the notices are not UTF-8")
	}
	// section returns the notice whose title begins with title, and reports an error for each text that it lacks.
	section := func(title string, wanted ...string) string {
		t.Helper()
		_, rest, found := strings.Cut(notices, "=== "+title+" ")
		text, _, _ := strings.Cut(rest, "\n=== ")
		for _, want := range wanted {
			if !found || !strings.Contains(text, want) {
				t.Errorf("the notice of %s lacks %q", title, want)
			}
		}
		return text
	}
	section("GSHHG", "Copyright 2014 The GMT Team.", "What has been changed,", "WITHOUT ANY WARRANTY",
		"GNU LESSER GENERAL PUBLIC LICENSE\n                       Version 3", "4. Combined Works.",
		"GNU GENERAL PUBLIC LICENSE\n                       Version 3", "END OF TERMS AND CONDITIONS")
	freetype := section("github.com/golang/freetype",
		"The FreeType Project LICENSE",
		"Portions of this software are copyright © 2017 The FreeType Project (www.freetype.org). All rights reserved.",
		"Redistribution in binary form must provide a  disclaimer  that",
		"--- end of FTL.TXT ---")
	if strings.Contains(freetype, "GNU GENERAL PUBLIC LICENSE") {
		t.Error("the notice of freetype has the licence that limnomap does not use")
	}
}
