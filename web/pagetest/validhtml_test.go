package pagetest

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The pages are valid HTML, those that are built as well as those that the server makes, in each of their states.
func TestPagesAreValidHTML(t *testing.T) {
	t.Parallel()
	needPage(t)
	base := startStatements(t)
	folder := t.TempDir()
	for i, page := range []struct {
		target string
		status int
	}{
		{"/", http.StatusOK}, {"/embed", http.StatusOK}, {"/docs", http.StatusOK},
		{"/table", http.StatusOK}, {"/week", http.StatusOK}, {"/week?lang=fr", http.StatusOK}, {"/regions/Berlin?lang=de", http.StatusOK}, {"/table?q=see&sort=value&lang=de", http.StatusOK}, {"/table?q=nowhere", http.StatusOK},
		{"/lakes/zu_gruen", http.StatusOK}, {"/lakes/zu_gruen?lang=de", http.StatusOK}, {"/lakes/zu_leer", http.StatusOK}, {"/lakes/warn", http.StatusOK}, {"/lakes/zell", http.StatusOK},
		{"/nowhere", http.StatusNotFound}, {"/lakes/nowhere?lang=de", http.StatusNotFound}, {"/table?risk=no&page=x", http.StatusBadRequest},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+page.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != page.status {
			t.Fatalf("%s = %d, %v", page.target, answer.StatusCode, err)
		}
		// The comment tells whoever reads the report which page it is.
		name := filepath.Join(folder, fmt.Sprintf("%02d.html", i))
		if err := os.WriteFile(name, append(content, fmt.Sprintf("<!-- %s -->\n", page.target)...), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s is %s", page.target, filepath.Base(name))
	}
	web := filepath.Join("..", "..", "web")
	validate := exec.CommandContext(t.Context(), "node", filepath.Join(web, "node_modules", "html-validate", "bin", "html-validate.mjs"),
		"--config", filepath.Join(web, ".htmlvalidate.json"), filepath.Join(folder, "*.html"))
	if report, err := validate.CombinedOutput(); err != nil {
		t.Errorf("html-validate (make web installs it): %v\n%s", err, report)
	}
}
