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

// mostOwn bounds the bytes of our own scripts, Leaflet and words besides.
const mostOwn = 40_000

func TestOwnScripts(t *testing.T) {
	files := FS()
	if !Built(files) {
		t.Skip("web/dist is not built (make web)")
	}
	scripts, err := fs.Glob(files, "assets/*.js")
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for _, name := range append(scripts, "sw.js") {
		if strings.HasPrefix(name, "assets/leaflet-") {
			continue
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		own += len(content)
	}
	if own > mostOwn {
		t.Errorf("our own scripts have %d bytes, want at most %d", own, mostOwn)
	}
}

// The service worker keeps the page whole: each file that it names is there, and so is each that the page refers to.
func TestShell(t *testing.T) {
	files := FS()
	if !Built(files) {
		t.Skip("web/dist is not built (make web)")
	}
	worker, err := fs.ReadFile(files, "sw.js")
	if err != nil {
		t.Fatal(err)
	}
	shell := make(map[string]bool)
	for _, name := range regexp.MustCompile(`assets/[\w.-]+`).FindAllString(string(worker), -1) {
		shell[name] = true
		if _, err := fs.Stat(files, name); err != nil {
			t.Errorf("sw.js keeps %q: %v", name, err)
		}
	}
	assets, err := fs.Glob(files, "assets/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range assets {
		if !shell[name] {
			t.Errorf("sw.js does not keep %s", name)
		}
	}
	for _, document := range []string{"index.html", "embed.html"} {
		content, err := fs.ReadFile(files, document)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range addresses.FindAllSubmatch(content, -1) {
			if name := string(m[1]); strings.HasPrefix(name, "assets/") && !shell[name] {
				t.Errorf("%s refers to %s, which sw.js does not keep", document, name)
			}
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
