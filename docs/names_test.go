package docs

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Tests, make targets, files, flags and metrics that these documents name exist. The changelog also has old names.
var naming = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "render/*.md"}

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	testName   = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*…?$`)
	makeTarget = regexp.MustCompile(`(?m)(?:^|\x60)make ([a-z-]+)`)
	filePath   = regexp.MustCompile(`^(?:\.ci|api|cmd|colormap|data|deploy|docs|render|tiles|web)/[\w.…*/-]+$`)
	flagName   = regexp.MustCompile(`^--([a-z][a-z0-9-]+)`)
	metricName = regexp.MustCompile(`^limnomap_[a-z_]+`)
)

// foreignFlags are flags of other programs.
var foreignFlags = map[string]bool{"compressed": true, "enable-feature": true, "help": true}

func TestNames(t *testing.T) {
	programs, tests := goSource(t)
	targets, settings := readSource(t, "Makefile"), readSource(t, "docs/configuration.md")
	metrics := readSource(t, "docs/monitoring.md") + programs // searched for complete names
	names := 0
	for _, p := range pagesOf(t, naming...) {
		source := readSource(t, p.name)
		for _, m := range makeTarget.FindAllStringSubmatch(source, -1) {
			names++
			if !strings.Contains(targets, "\n"+m[1]+":") {
				t.Errorf("%s: there is no make %s", p.name, m[1])
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(source, -1) {
			name, missing := m[1], false
			switch {
			case testName.MatchString(name):
				whole := "func " + strings.TrimSuffix(name, "…")
				if !strings.HasSuffix(name, "…") {
					whole += "("
				}
				missing = !strings.Contains(tests, whole)
			case filePath.MatchString(name) && !strings.HasPrefix(name, "tiles/vector.json"): // an address
				found, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(strings.ReplaceAll(name, "…", "*"))))
				missing = err != nil || len(found) == 0
			case flagName.MatchString(name) && !foreignFlags[flagName.FindStringSubmatch(name)[1]]:
				missing = !strings.Contains(settings, "`"+flagName.FindString(name)+"`")
			case metricName.MatchString(name) && p.name != "docs/monitoring.md": // deploy compares that page with the server
				missing = !regexp.MustCompile("[`\"]" + metricName.FindString(name)).MatchString(metrics)
			default:
				continue
			}
			names++
			if missing {
				t.Errorf("%s: there is no %s", p.name, name)
			}
		}
	}
	if names < 100 {
		t.Errorf("%d names were found, want more", names)
	}
}

// docs/api.md has each path and each error status of the OpenAPI description.
func TestEveryAddress(t *testing.T) {
	var description struct {
		Paths map[string]map[string]struct {
			Responses map[string]any
		}
	}
	if err := json.Unmarshal([]byte(readSource(t, "api/openapi.json")), &description); err != nil {
		t.Fatal(err)
	}
	page := readSource(t, "docs/api.md") + readSource(t, "docs/ogc.md")
	if len(description.Paths) < 20 {
		t.Errorf("%d addresses, want more", len(description.Paths))
	}
	statuses := make(map[string]bool)
	for path, methods := range description.Paths {
		for _, method := range methods {
			for status := range method.Responses {
				statuses[status] = true
			}
		}
		said := path
		for _, root := range []string{"/ogc/", "/wmts/"} { // described together
			if strings.HasPrefix(path, root) {
				said = strings.TrimSuffix(root, "/")
			}
		}
		// Several paths may share a row in a short form: `status`, `status.csv`.
		if !strings.Contains(page, "`"+said) && !strings.Contains(page, "`"+path[strings.LastIndex(path, "/")+1:]+"`") &&
			!strings.Contains(page, "`"+filepath.Ext(path)+"`") {
			t.Errorf("docs/api.md does not name %s", path)
		}
	}
	for status := range statuses {
		if status >= "400" && !strings.Contains(page, "\n| "+status+" | ") {
			t.Errorf("docs/api.md does not explain the status %s", status)
		}
	}
	if len(statuses) < 8 {
		t.Errorf("%d statuses, want more", len(statuses))
	}
}

// docs/architecture.md names each package.
func TestEveryPackage(t *testing.T) {
	out, err := exec.Command("go", "list", "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	page := readSource(t, "docs/architecture.md")
	for _, path := range strings.Fields(string(out)) {
		if name := strings.TrimPrefix(path, "limnomap/"); !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/architecture.md does not name the package %s", name)
		}
	}
}

// readSource returns a file of the repository.
func readSource(t *testing.T, name string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// goSource returns all Go files of the repository, concatenated.
func goSource(t *testing.T) (programs, tests string) {
	t.Helper()
	var all, ofTests strings.Builder
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go":
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			to := &all
			if strings.HasSuffix(path, "_test.go") {
				to = &ofTests
			}
			to.Write(source)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String(), ofTests.String()
}
