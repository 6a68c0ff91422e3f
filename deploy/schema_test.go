package deploy

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema compiles the part of a JSON schema at a JSON pointer.
func schema(t testing.TB, name, pointer string) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(readFile(t, name)))
	must(t, err)
	c := jsonschema.NewCompiler()
	must(t, c.AddResource(name, document))
	s, err := c.Compile(name + "#" + pointer)
	must(t, err)
	return s
}

// moduleFolder returns the folder of a module in the version of a go.mod, and downloads it if needed.
func moduleFolder(t testing.TB, mod, module string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-modfile="+mod, "-json", module).Output()
	var found struct{ Dir, Error string }
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	if err != nil || found.Dir == "" {
		t.Fatalf("module %s of %s: %v\n%s", module, mod, err, out)
	}
	return found.Dir
}

// documents returns the YAML documents of a file as JSON values.
func documents(t testing.TB, name string) (all []map[string]any) {
	t.Helper()
	for text := range strings.SplitSeq(readFile(t, name), "\n---\n") {
		var document map[string]any
		if _, err := yaml.Unmarshal([]byte(text), &document, yaml.DecodeOpts{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, document)
	}
	return all
}

// into decodes a document into a Go type.
func into(t testing.TB, document, value any) {
	t.Helper()
	text, err := json.Marshal(document)
	must(t, err)
	must(t, json.NewDecoder(bytes.NewReader(text)).Decode(value))
}
