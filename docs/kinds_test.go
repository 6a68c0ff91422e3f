//go:build unix

package docs

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	"limnomap/cmd/limnomap/limnomaptest"
)

// checkScript has Node parse a block, and adds it to the browser views if it is for a map.
func checkScript(t *testing.T, e *examples, b block) {
	t.Helper()
	limnomaptest.Need(t, "node")
	file := limnomaptest.WriteFile(t, t.TempDir(), "block.mjs", b.text)
	if out, err := exec.Command("node", "--check", file).CombinedOutput(); err != nil {
		t.Fatalf("node --check: %v\n%s", err, out)
	}
	for _, library := range b.marks {
		if _, ok := mapPages[library]; !ok {
			t.Errorf("no test runs scripts with the mark %q", library)
			continue
		}
		e.views.add(browserView{where: fmt.Sprintf("%s:%d", e.page.name, b.line), library: library, script: b.text, base: e.front.address})
	}
}

// checkHTML parses a block, requests its addresses on the server, and adds its frame to the browser views.
func checkHTML(t *testing.T, e *examples, b block) {
	t.Helper()
	nodes, err := html.ParseFragment(strings.NewReader(b.text), nil)
	if err != nil || len(nodes) == 0 {
		t.Fatalf("%d elements, %v", len(nodes), err)
	}
	asked := 0
	for _, n := range nodes {
		for n := range n.Descendants() {
			for _, a := range n.Attr {
				if (a.Key != "src" && a.Key != "href") || !strings.HasPrefix(a.Val, e.front.address) {
					continue
				}
				asked++
				if resp, body := limnomaptest.Get(t, a.Val); resp.StatusCode != http.StatusOK {
					t.Errorf("%s: %s\n%s", a.Val, resp.Status, body)
				}
				if n.Data == "iframe" {
					e.views.add(browserView{where: fmt.Sprintf("%s:%d", e.page.name, b.line), address: a.Val, base: e.front.address})
				}
			}
		}
	}
	if asked != strings.Count(b.text, e.front.address) {
		t.Errorf("%d of the %d addresses on the server were requested", asked, strings.Count(b.text, e.front.address))
	}
}

// checkYAML parses a block. With the mark config limnomap config must accept it.
func checkYAML(t *testing.T, e *examples, b block) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(b.text))
	for documents := 0; ; documents++ {
		var v any
		if err := decoder.Decode(&v); errors.Is(err, io.EOF) && documents > 0 {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !b.marked("config") {
		return
	}
	cmd := exec.Command(limnomaptest.Binary(t), "--config", limnomaptest.WriteFile(t, e.folder, "limnomap.yaml", b.text), "config")
	cmd.Dir, cmd.Env = e.folder, limnomaptest.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("limnomap config: %v\n%s", err, out)
	}
}

func checkXML(t *testing.T, b block) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(b.text))
	for elements := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && elements > 0 {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
}

func checkCSV(t *testing.T, b block) {
	t.Helper()
	if rows, err := csv.NewReader(strings.NewReader(b.text)).ReadAll(); err != nil || len(rows) < 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func checkJSON(t *testing.T, b block) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(b.text), &v); err != nil {
		t.Error(err)
	}
}
