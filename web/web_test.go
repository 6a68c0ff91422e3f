package web

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	inline    = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\sstyle=|\son[a-z]+=`)
	addresses = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
)

// The page's Content-Security-Policy allows nothing inline, and under a base path only relative addresses lead
// to this server.
func checkPage(t *testing.T, files fs.FS) {
	t.Helper()
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	if found := inline.Find(page); found != nil {
		t.Errorf("index.html has inline script or style: %q", found)
	}
	for _, m := range addresses.FindAllSubmatch(page, -1) {
		address := string(m[1])
		if strings.HasPrefix(address, "/") || strings.Contains(address, "://") {
			t.Errorf("index.html refers to %q, want relative addresses only", address)
		}
		if strings.HasSuffix(address, ".css") || strings.HasSuffix(address, ".js") {
			if _, err := fs.Stat(files, address); err != nil {
				t.Errorf("index.html refers to %q: %v", address, err)
			}
		}
	}
}

func TestPage(t *testing.T) { checkPage(t, FS()) }

func TestPlainPage(t *testing.T) {
	files := sub(plain, "plain")
	checkPage(t, files)
	if Built(files) {
		t.Error("the plain page passes for the built one")
	}
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"make web", "npm", "api/v1/bathing-lakes/status", "openapi.json"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the plain page does not mention %s", want)
		}
	}
}

func TestBuilt(t *testing.T) {
	if Built(fstest.MapFS{".keep": {}}) {
		t.Error("an empty folder passes for the built page")
	}
	if !Built(fstest.MapFS{"index.html": {}, "assets/main.js": {}}) {
		t.Error("the built page is not seen")
	}
}
