//go:build unix

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// The address of the server in the examples.
const exampleAddress = "127.0.0.1:8080"

// mostNotRun limits the number of blocks with the mark no-test, which is only for what no test can do.
const mostNotRun = 15

// TestExamples checks every block of code in the pages, by its language:
//
//	sh          run by bash -eu in a temporary folder of the page with lakes.csv, obs.csv and lakes.db, with limnomap in
//	            the PATH. Background processes end with the block; a server that it starts last ends once it serves.
//	            A block with the mark no-test is not run; a comment in it, or the paragraph before it, says why. For a
//	            block with the mark refused the server must refuse a request, for all others it must not refuse any.
//	python, r   run by python3 and Rscript in the same folder; make test-long also runs Python that needs packages of Debian
//	ts          compiled beside the types of the description of the API
//	js          parsed by Node as a module; with the mark leaflet, openlayers or maplibre make test-long also runs it in Chromium, on a
//	            page with that library and a map, where it must request something from the server
//	html        parsed; its addresses on the server exist, and with make test-long its frame shows a map
//	yaml        parsed; with the mark config also checked by limnomap config
//	xml, csv    parsed
//	go          see TestExtending
//	json, text  the output of the block before it, with … for omitted parts. JSON with the mark alike may have other values
//	            under the same names, as the demo does every week. A block with the mark example or figure, or after a block
//	            that is not run, is not compared. JSON without a block before it is parsed
//
// The blocks of a page run in order. The address of the examples is replaced by that of a demo server.
func TestExamples(t *testing.T) {
	pages := pagesOf(t, "README.md", "docs/*.md")
	server := limnomaptest.Start(t, "--admin-listen=", "--trusted-proxies", "127.0.0.1/32") // the front's, for absolute addresses
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
	views := new(browserViews)
	t.Run("pages", func(t *testing.T) { // ends when all pages have ended
		for _, p := range pages {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				e := &examples{page: p, front: startFront(t, server.Base), views: views, folder: copyFolder(t, seed)}
				for i, b := range p.blocks {
					t.Run(fmt.Sprintf("line %d %s", b.line, b.language), func(t *testing.T) { e.check(t, i) })
				}
			})
		}
	})
	if testsize.Long {
		t.Run("views", func(t *testing.T) { views.show(t, server.Base) })
	}
}

// examples are the blocks of one page, with the output of the last one that ran.
type examples struct {
	page   *page
	front  *front // in front of the demo server
	views  *browserViews
	folder string

	last output
}

// An output is the output of a block, with the index of the block.
type output struct {
	block          int // -1 after a block that failed
	stdout, stderr string
}

// check checks the block with the given index.
func (e *examples) check(t *testing.T, i int) {
	b := e.page.blocks[i]
	if b.long() && !testsize.Long {
		return
	}
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
		program := "python3"
		if packages.MatchString(b.text) {
			program = "/usr/bin/python3"
		}
		e.run(t, i, b, program)
	case "ts":
		checkTypeScript(t, b)
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
		if e.page.name != "docs/extending.md" || len(b.marks) != 1 { // TestExtending runs these
			t.Error("Go code is only checked in docs/extending.md, with its file as the mark")
		}
	case "json", "text":
		e.checkOutput(t, i, b)
	case "":
		t.Error("a block without a language: begin it with ```sh, ```text or another language")
	default:
		t.Errorf("blocks of the language %q are not checked", b.language)
	}
}

// checkOutput compares a block with the output of the block before it.
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
	case before.marked("no-test") || before.long() && !testsize.Long:
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

// shortened returns an output for the message of a failing test.
func shortened(s string) string {
	if len(s) > 4096 {
		return s[:4096] + "…\n"
	}
	return s
}

// seedFolder creates the files that readers of the examples have: simulated lakes, their values, and a database of both.
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
