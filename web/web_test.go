package web

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"limnomap/data/testsize"

	"github.com/andybalholm/brotli"
	"golang.org/x/net/html"
)

// checkPage checks that a page has no inline script or style, which its Content-Security-Policy forbids, and only relative
// addresses, because the server may have a base path.
func checkPage(t *testing.T, files fs.FS, document string) {
	t.Helper()
	content, err := fs.ReadFile(files, document)
	if err != nil {
		t.Fatal(err)
	}
	page, err := html.ParseWithOptions(bytes.NewReader(content), html.ParseOptionEnableScripting(false)) // with <noscript>
	if err != nil {
		t.Fatal(err)
	}
	for node := range page.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		if node.Data == "style" || node.Data == "script" && node.FirstChild != nil {
			t.Errorf("%s has an inline <%s>", document, node.Data)
		}
		for _, attribute := range node.Attr {
			switch {
			case attribute.Key == "style" || strings.HasPrefix(attribute.Key, "on"):
				t.Errorf("%s has an inline %s=%q", document, attribute.Key, attribute.Val)
			case attribute.Key == "href" || attribute.Key == "src":
				checkAddress(t, files, document, attribute.Val)
			}
		}
	}
}

func checkAddress(t *testing.T, files fs.FS, document, address string) {
	t.Helper()
	if strings.HasPrefix(address, "/") || strings.Contains(address, "://") {
		t.Errorf("%s refers to %q, want only relative addresses", document, address)
	}
	if strings.HasSuffix(address, ".css") || strings.HasSuffix(address, ".js") {
		_, err := fs.Stat(files, address)
		if errors.Is(err, fs.ErrNotExist) {
			_, err = fs.Stat(files, address+".br") // the server decompresses it
		}
		if err != nil {
			t.Errorf("%s refers to %q: %v", document, address, err)
		}
	}
}

// documents are the pages in the folder, built or plain.
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
		t.Error("Built(the plain page) = true, want false")
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
				t.Errorf("the plain %s does not contain %q", document, want)
			}
		}
	}
}

// builtFiles returns the files of the built page. It skips the test if the page is not built; in CI the test fails.
func builtFiles(t *testing.T) fs.FS {
	t.Helper()
	files := FS()
	if Built(files) {
		return files
	}
	testsize.LeaveOut(t, "web/dist is not built (make web)")
	return nil
}

// maxScripts are the maximum sizes of the page's own script, without Leaflet and words, of the scripts that load later, and of the service
// worker.
var maxScripts = map[string]int{
	"assets/main-*.js": 48_000, "assets/highs-*.js": 1_700, "assets/known-*.js": 5_000, "assets/embed-*.js": 1_200,
	"assets/card-*.js": 19_100, "assets/compare-*.js": 6_000, "assets/export-*.js": 7_500, "assets/share-*.js": 3_000,
	"assets/find-*.js": 10_000, "assets/forecast-*.js": 3_500, "assets/tell-*.js": 9_000, "sw.js": 4_050, // with the pages of lakes, which it keeps for the shore
	"assets/timeline-*.js": 2_300, "assets/beside-*.js": 4_300, "assets/years-*.js": 2_000, "assets/towns-*.js": 2_700,
}

func TestOwnScripts(t *testing.T) {
	files := builtFiles(t)
	for pattern, limit := range maxScripts {
		scripts, err := fs.Glob(files, pattern)
		if err != nil || len(scripts) != 1 {
			t.Fatalf("%s: %q, %v, want one", pattern, scripts, err)
		}
		content, err := fs.ReadFile(files, scripts[0])
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > limit {
			t.Errorf("%s has %d bytes, want at most %d", scripts[0], len(content), limit)
		}
	}
	if scripts, err := fs.Glob(files, "assets/*.js"); err != nil || len(scripts) != len(maxScripts)-1+3 {
		t.Errorf("scripts = %q, %v, want those with a maximum size, push.js, leaflet.js and docs.js", scripts, err)
	}
}

// The service worker stores the page and all files that the page names. So each named file must exist, and the page must name
// each file.
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
	docs, err := fs.ReadFile(files, "docs.html")
	if err != nil {
		t.Fatal(err)
	}
	docsFiles := regexp.MustCompile(`assets/(docs|swagger-ui)-[\w.-]+`).FindAllString(string(docs), -1) // not stored
	if len(docsFiles) != 3 {
		t.Errorf("docs.html names %q, want a style and two scripts", docsFiles)
	}
	// The icons of the installed page, and what the worker imports, which the browser keeps with it.
	others := string(worker)
	for _, pattern := range []string{"assets/manifest-*.webmanifest", "assets/push-*.js"} {
		names, err := fs.Glob(files, pattern)
		if err != nil || len(names) != 1 {
			t.Fatalf("%s: %q, %v, want one", pattern, names, err)
		}
		content, err := fs.ReadFile(files, names[0])
		if err != nil {
			t.Fatal(err)
		}
		others += string(content)
	}
	for _, document := range []string{"index.html", "embed.html"} {
		page, err := fs.ReadFile(files, document)
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`assets/[\w.-]+`).FindAllString(string(page), -1)
		// One name stands for the words of all languages, of which the worker stores those that were used.
		all := slices.IndexFunc(named, func(name string) bool { return strings.Contains(name, "LANG") })
		if all < 0 {
			t.Fatalf("%s names no words", document)
		}
		words, parts := named[all], []string{"", "card-", "find-", "forecast-", "tell-"}
		named = slices.Delete(named, all, all+1)
		languages := regexp.MustCompile(`hreflang="(\w+)"`).FindAllSubmatch(page, -1)
		if len(languages) != 7 {
			t.Errorf("%s links to %d languages, want 7", document, len(languages))
		}
		for _, language := range languages {
			for _, part := range parts {
				named = append(named, strings.Replace(words, "LANG", part+string(language[1]), 1))
			}
		}
		for _, name := range named {
			_, err := fs.Stat(files, name)
			if errors.Is(err, fs.ErrNotExist) {
				_, err = fs.Stat(files, name+".br") // the server decompresses it
			}
			if err != nil {
				t.Errorf("%s names %q: %v", document, name, err)
			}
		}
		for _, name := range assets {
			if document == "index.html" && strings.HasPrefix(name, "assets/embed-") { // for embed.html only
				continue
			}
			if plain := strings.TrimSuffix(name, ".br"); !slices.Contains(named, plain) && !slices.Contains(docsFiles, plain) && !strings.Contains(others, path.Base(plain)) {
				t.Errorf("%s does not name %s", document, plain)
			}
		}
		// The worker checks that it stores the page of its own version.
		version := regexp.MustCompile(`data-version="([0-9a-f]{8})"`).FindSubmatch(page)
		if version == nil || !bytes.Contains(worker, version[1]) {
			t.Errorf("sw.js does not contain the version of %s, %q", document, version)
		}
	}
}

// A compressed file has the content of the file next to it. The files of Swagger UI exist only compressed; their names contain
// the hash of the decompressed content.
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
				t.Errorf("%s decompresses to %d bytes with hash %.8s: %v", name, len(got), hash, err)
			}
			return nil
		}
		if missing != nil {
			return missing
		}
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s does not decompress to %s: %v", name, plainName, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if Built(files) && found == 0 {
		t.Error("the built page has no compressed files")
	}
}

func TestBuilt(t *testing.T) {
	if Built(fstest.MapFS{".keep": {}}) {
		t.Error("Built(empty folder) = true, want false")
	}
	if !Built(fstest.MapFS{"index.html": {}, "assets/main.js": {}}) {
		t.Error("Built(a built page) = false, want true")
	}
}
