package docs

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// All pages for readers, except those in npm packages.
var everyPage = []string{"*.md", "docs/*.md", "docs/changes/*.md", "deploy/*.md", "deploy/*/*.md", "render/*.md"}

// Links to files and headings in the repository are valid. External addresses are not requested.
func TestLinks(t *testing.T) {
	pages := pagesOf(t, everyPage...)
	byName := make(map[string]*page)
	for _, p := range pages {
		byName[p.name] = p
	}
	links := 0
	for _, p := range pages {
		for _, l := range p.links {
			links++
			if problem := checkLink(byName, p, l); problem != "" {
				t.Errorf("%s:%d: %s", p.name, l.line, problem)
			}
		}
	}
	if links < 15 {
		t.Errorf("%d links were found on %d pages, want more", links, len(pages))
	}
}

// checkLink returns what is wrong with a link, or "".
func checkLink(pages map[string]*page, from *page, l link) string {
	target, err := url.Parse(l.target)
	if err != nil {
		return err.Error()
	}
	if l.image && len(strings.Fields(l.text)) < 3 {
		return "the picture " + l.target + " has no text that describes it"
	}
	if target.Scheme != "" {
		if target.Scheme != "https" && target.Scheme != "mailto" && target.Hostname() != "127.0.0.1" {
			return l.target + " is no https address"
		}
		return ""
	}
	name := from.name
	if target.Path != "" {
		name = path.Join(path.Dir(from.name), target.Path)
		if strings.HasPrefix(name, "..") {
			return l.target + " lies outside of the repository"
		}
		if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(name))); err != nil {
			return "there is no " + name
		}
	}
	if p := pages[name]; target.Fragment != "" && (p == nil || !p.anchors[target.Fragment]) {
		return name + " has no heading #" + target.Fragment
	}
	return ""
}

// docs/README.md links to each page and script, and each picture is used in a page.
func TestIndex(t *testing.T) {
	index := make(map[string]bool)
	for _, l := range pagesOf(t, "docs/README.md")[0].links {
		index[path.Join("docs", strings.Split(l.target, "#")[0])] = true
	}
	shown := make(map[string]bool)
	for _, p := range pagesOf(t, everyPage...) {
		for _, l := range p.links {
			shown[path.Join(path.Dir(p.name), l.target)] = l.image
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := path.Join("docs", file.Name())
		switch path.Ext(name) {
		case ".md", ".sh":
			if name != "docs/README.md" && !index[name] {
				t.Errorf("docs/README.md does not link to %s", name)
			}
		case ".png":
			if !shown[name] {
				t.Errorf("no page shows %s", name)
			}
		case ".go":
		default:
			if !file.IsDir() {
				t.Errorf("%s: no page uses it", name)
			}
		}
	}
}

// A map that is copied from these pages says whose the values are, and links to what the colours mean.
func TestLeafletLayersHaveAnAttribution(t *testing.T) {
	layers := 0
	for _, name := range []string{"README.md", "docs/clients.md"} {
		for _, block := range strings.Split(readSource(t, name), "```js leaflet\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			layers++
			if !strings.Contains(block, "attribution:") || !strings.Contains(block, "/api/v1/legend") {
				t.Errorf("%s: a layer has no attribution with a link to the legend:\n%s", name, block)
			}
		}
	}
	if layers < 2 {
		t.Errorf("%d layers, want 2 and more", layers)
	}
}
