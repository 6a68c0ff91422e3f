package web

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
)

var (
	inline    = regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\sstyle=|\son[a-z]+=`)
	addresses = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
)

// The page's Content-Security-Policy allows nothing inline, and under a base path only relative addresses lead
// to this server.
func checkPage(t *testing.T, files fs.FS, document string) {
	t.Helper()
	page, err := fs.ReadFile(files, document)
	if err != nil {
		t.Fatal(err)
	}
	if found := inline.Find(page); found != nil {
		t.Errorf("%s has inline script or style: %q", document, found)
	}
	for _, m := range addresses.FindAllSubmatch(page, -1) {
		address := string(m[1])
		if strings.HasPrefix(address, "/") || strings.Contains(address, "://") {
			t.Errorf("%s refers to %q, want relative addresses only", document, address)
		}
		if strings.HasSuffix(address, ".css") || strings.HasSuffix(address, ".js") {
			_, err := fs.Stat(files, address)
			if errors.Is(err, fs.ErrNotExist) {
				_, err = fs.Stat(files, address+".br") // which the server unpacks
			}
			if err != nil {
				t.Errorf("%s refers to %q: %v", document, address, err)
			}
		}
	}
}

// documents are the pages that lie in the folder, built or plain.
var documents = []string{"index.html", "embed.html", "docs.html"}

func TestPage(t *testing.T) {
	for _, document := range documents {
		checkPage(t, FS(), document)
	}
}

func TestPlainPage(t *testing.T) {
	files := sub(plain, "plain")
	for _, document := range documents {
		checkPage(t, files, document)
	}
	if Built(files) {
		t.Error("the plain page passes for the built one")
	}
	for document, wants := range map[string][]string{
		"index.html": {"make web", "npm", "api/v1/bathing-lakes/status", "openapi.json"},
		"docs.html":  {"make web", `href="openapi.json"`},
	} {
		page, err := fs.ReadFile(files, document)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(page), want) {
				t.Errorf("the plain %s does not mention %s", document, want)
			}
		}
	}
}

// builtFiles returns the files of the built page. Where it is not built the test is left out, unless
// this is CI, where nothing may be.
func builtFiles(t *testing.T) fs.FS {
	t.Helper()
	files := FS()
	if Built(files) {
		return files
	}
	const missing = "web/dist is not built (make web)"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip("TEST OF THE BUILT PAGE LEFT OUT: " + missing)
	return nil
}

// The bytes that the page's own script may have, Leaflet and words besides, and those of the service worker.
const (
	mostOwn    = 40_000
	mostWorker = 3_000
)

func TestOwnScripts(t *testing.T) {
	files := builtFiles(t)
	for pattern, most := range map[string]int{"assets/main-*.js": mostOwn, "sw.js": mostWorker} {
		scripts, err := fs.Glob(files, pattern)
		if err != nil || len(scripts) != 1 {
			t.Fatalf("%s: %q, %v, want one", pattern, scripts, err)
		}
		content, err := fs.ReadFile(files, scripts[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > most {
			t.Errorf("%s has %d bytes, want at most %d", scripts[0], len(content), most)
		}
	}
	if scripts, err := fs.Glob(files, "assets/*.js"); err != nil || len(scripts) != 3 {
		t.Errorf("scripts = %q, %v, want ours, Leaflet, and what starts the viewer of the interface alone", scripts, err)
	}
}

// The service worker keeps the page whole, with all that it names: each of these files is there, and each file is named.
func TestShell(t *testing.T) {
	files := builtFiles(t)
	worker, err := fs.ReadFile(files, "sw.js")
	if err != nil {
		t.Fatal(err)
	}
	assets, err := fs.Glob(files, "assets/*")
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := fs.ReadFile(files, "docs.html")
	if err != nil {
		t.Fatal(err)
	}
	ofViewer := regexp.MustCompile(`assets/(docs|viewer)-[\w.-]+`).FindAllString(string(viewer), -1) // which no shell keeps
	if len(ofViewer) != 3 {
		t.Errorf("docs.html names %q of its own, want a style and two scripts", ofViewer)
	}
	for _, document := range []string{"index.html", "embed.html"} {
		page, err := fs.ReadFile(files, document)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`assets/[\w.-]+`).FindAllString(string(page), -1)
		for _, name := range named {
			if _, err := fs.Stat(files, name); err != nil {
				t.Errorf("%s names %q: %v", document, name, err)
			}
		}
		for _, name := range assets {
			if plain := strings.TrimSuffix(name, ".br"); !slices.Contains(named, plain) && !slices.Contains(ofViewer, plain) {
				t.Errorf("%s does not name %s", document, plain)
			}
		}
		// By it the worker knows the page that belongs to it.
		version := regexp.MustCompile(`data-version="([0-9a-f]{8})"`).FindSubmatch(page)
		if version == nil || !bytes.Contains(worker, version[1]) {
			t.Errorf("sw.js does not bear the version of %s, %q", document, version)
		}
	}
}

// What stands beside a file in compressed form is that file. The viewer's are there in that form alone, and named for what
// they unpack to, as build.mjs names them.
func TestCompressed(t *testing.T) {
	files := FS()
	found := 0
	err := fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		plainName, ok := strings.CutSuffix(name, ".br")
		if err != nil || !ok {
			return err
		}
		found++
		compressed, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		got, err := io.ReadAll(brotli.NewReader(bytes.NewReader(compressed)))
		plain, missing := fs.ReadFile(files, plainName)
		if errors.Is(missing, fs.ErrNotExist) {
			if hash := fmt.Sprintf("%X", sha256.Sum256(got)); err != nil || !strings.Contains(plainName, "-"+hash[:8]+".") {
				t.Errorf("%s unpacks to %d bytes of hash %.8s: %v", name, len(got), hash, err)
			}
			return nil
		}
		if missing != nil {
			return missing
		}
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s is not %s: %v", name, plainName, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if Built(files) && found == 0 {
		t.Error("no file of the built page is compressed")
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
