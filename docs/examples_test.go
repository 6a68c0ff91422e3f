//go:build unix

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The server of the examples, as pages write its address.
const exampleAddress = "127.0.0.1:8080"

// mostNotRun bounds the blocks that are shown and not run, so that they stay what they are for: what no test can do.
const mostNotRun = 15

// Every block of code that a page shows does what it says. By its language:
//
//	sh          run by bash -eu in the page's scratch folder, which holds lakes.csv, obs.csv and lakes.db, with limnomap on
//	            the PATH. What it starts in the background ends with it; a server that it starts last ends once it serves.
//	            With the mark no-test it is not run: a comment in it, or the paragraph before it, says why. With the mark
//	            refused the server has to refuse something that it asks for; of every other block it has to refuse nothing.
//	python, r   run by python3 and Rscript in the same folder
//	js          parsed by Node as a module; with the mark leaflet, openlayers or maplibre it is run in Chromium, on a page
//	            with that library and a map, and must ask the server for something
//	html        parsed; what it takes from the server is there, and its frame shows a map
//	yaml        parsed; with the mark config it is a file for limnomap --config, and checked by limnomap config
//	xml, csv    parsed
//	go          see TestExtending
//	json, text  what the block before it has printed, with … for what is left out; JSON with the mark alike may have other
//	            values under the same names, as the demo has every week. With the mark example or figure, or behind a block
//	            that is not run, it is not compared. JSON behind no block is parsed
//
// Blocks of one page run in order, and the address of the examples is that of a demo server.
func TestExamples(t *testing.T) {
	pages := pagesOf(t, "README.md", "docs/*.md")
	server := limnomaptest.Start(t, "--admin-listen=")
	seed := seedFolder(t)
	notRun := 0
	for _, p := range pages {
		for _, b := range p.blocks {
			if b.marked("no-test") {
				notRun++
				t.Logf("not run: %s:%d", p.name, b.line)
			}
		}
	}
	if notRun > mostNotRun {
		t.Errorf("%d blocks are not run, want at most %d", notRun, mostNotRun)
	}
	seen := new(sights)
	t.Run("pages", func(t *testing.T) { // ends when all pages have
		for _, p := range pages {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				e := &examples{page: p, front: startFront(t, server.Base), sights: seen, folder: copyFolder(t, seed)}
				for i, b := range p.blocks {
					t.Run(fmt.Sprintf("line %d %s", b.line, b.language), func(t *testing.T) { e.check(t, i) })
				}
			})
		}
	})
	t.Run("sights", func(t *testing.T) { seen.show(t, server.Base) })
}

// examples are the blocks of one page, and what the last one that ran has printed.
type examples struct {
	page   *page
	front  *front // of the demo server
	sights *sights
	folder string

	last output
}

// An output is what a block that ran has printed, and on which of the page's blocks that was.
type output struct {
	block          int // -1 behind one that failed
	stdout, stderr string
}

// check checks the block with an index.
func (e *examples) check(t *testing.T, i int) {
	b := e.page.blocks[i]
	b.text = strings.ReplaceAll(b.text, exampleAddress, strings.TrimPrefix(e.front.address, "http://"))
	switch b.language {
	case "sh":
		if b.marked("no-test") {
			if !strings.Contains(b.text, "#") && len(strings.Fields(b.before)) < 4 {
				t.Error("it is not run, and neither a comment nor the paragraph before it says why")
			}
			return
		}
		e.run(t, i, b, "bash", "-eu")
	case "python":
		e.run(t, i, b, "python3")
	case "r":
		e.run(t, i, b, "Rscript")
	case "js":
		checkScript(t, e, b)
	case "html":
		checkHTML(t, e, b)
	case "yaml":
		checkYAML(t, e, b)
	case "xml":
		checkXML(t, b)
	case "csv":
		checkCSV(t, b)
	case "go":
		if e.page.name != "docs/extending.md" || len(b.marks) != 1 { // TestExtending has these
			t.Error("Go is checked on the page on extending alone, with the file that it belongs to as its mark")
		}
	case "json", "text":
		e.checkOutput(t, i, b)
	case "":
		t.Error("a block without a language: begin it with ```sh, ```text or what it is")
	default:
		t.Errorf("nobody checks blocks of the language %q", b.language)
	}
}

// checkOutput compares a block with what the one before it has printed.
func (e *examples) checkOutput(t *testing.T, i int, b block) {
	if strings.TrimSpace(b.text) == "" {
		t.Error("an empty block")
	}
	if b.marked("figure") || b.marked("example") {
		return
	}
	var before block
	if i > 0 {
		before = e.page.blocks[i-1]
	}
	switch {
	case before.marked("no-test"):
		return
	case before.language != "sh" && before.language != "python" && before.language != "r":
		if b.language == "json" {
			checkJSON(t, b)
			return
		}
		t.Error("no block that runs is before it: mark it as a figure or an example")
		return
	case e.last.block != i-1:
		t.Skip("the block before did not run")
	}
	matches := outputMatches
	if b.language == "json" {
		matches = func(want, output string) bool { return jsonMatches(want, output, b.marked("alike")) }
	}
	if !matches(b.text, e.last.stdout) && !matches(b.text, e.last.stdout+e.last.stderr) {
		t.Errorf("the page says that this is printed:\n%s\nand it was:\n%s%s", b.text, shortened(e.last.stdout), shortened(e.last.stderr))
	}
}

// shortened is an output as a failing test shows it.
func shortened(s string) string {
	if len(s) > 4096 {
		return s[:4096] + "…\n"
	}
	return s
}

// seedFolder makes the files that a reader of the examples has: simulated lakes, their values, and a database of them.
func seedFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	limnomaptest.Run(t, "demo", "--lakes", "300", "--out", in("lakes.csv")+","+in("obs.csv"))
	limnomaptest.Run(t, "import", "lakes", in("lakes.csv"), "--db", in("lakes.db"))
	limnomaptest.Run(t, "import", "observations", in("obs.csv"), "--db", in("lakes.db"))
	return dir
}

func copyFolder(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return dir
}
