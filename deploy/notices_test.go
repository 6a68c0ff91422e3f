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
// credit that this licence wants.
func TestNotices(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "bash", "go")
	cmd := exec.Command(".ci/notices")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	notices := string(out)
	if !utf8.ValidString(notices) {
		t.Error("the notices are not UTF-8")
	}
	_, rest, _ := strings.Cut(notices, "=== github.com/golang/freetype ")
	freetype, _, found := strings.Cut(rest, "\n=== ")
	for _, want := range []string{
		"The FreeType Project LICENSE",
		"Portions of this software are copyright © 2017 The FreeType Project (www.freetype.org). All rights reserved.",
		"Redistribution in binary form must provide a  disclaimer  that",
		"--- end of FTL.TXT ---",
	} {
		if !found || !strings.Contains(freetype, want) {
			t.Errorf("the notice of freetype lacks %q", want)
		}
	}
	if strings.Contains(freetype, "GNU GENERAL PUBLIC LICENSE") {
		t.Error("the notice of freetype has the licence that limnomap does not use")
	}
}
