package deploy

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schema compiles the part of a JSON schema that a JSON pointer leads to.
func schema(t testing.TB, name, pointer string) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(readFile(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name + "#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// composeSchema returns the path of the schema of compose files, in the module of the program that reads them.
func composeSchema(t testing.TB) string {
	t.Helper()
	download := exec.Command("go", "mod", "download", "-json", "github.com/compose-spec/compose-go/v2")
	download.Dir = "testdata/strict" // which says what version
	out, err := download.Output()
	var module struct{ Dir, Error string }
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err != nil || module.Dir == "" {
		t.Fatalf("the schema of compose files: %v\n%s", err, out)
	}
	return filepath.Join(module.Dir, "schema", "compose-spec.json")
}

// documents returns the YAML documents of a file as JSON has them.
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

// into is document in a type of its own.
func into(t testing.TB, document, value any) {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(value); err != nil {
		t.Fatal(err)
	}
}

// Each object has the fields that its type in k8s.io/api has and no others. testdata/strict made the schema of these types,
// and builds the kustomization itself.
func TestKubernetesSchema(t *testing.T) {
	objects := kubernetesObjects(t)
	for name, object := range objects {
		kind := object["apiVersion"].(string) + "/" + object["kind"].(string)
		if strings.HasPrefix(kind, "monitoring.coreos.com/") {
			continue // the operator's own
		}
		s := schema(t, "testdata/kubernetes.schema.json", "/$defs/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(kind))
		if err := s.Validate(any(object)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		object["spce"] = map[string]any{}
		if s.Validate(any(object)) == nil {
			t.Errorf("%s: a field that nobody knows is let through", name)
		}
	}
}

// kubernetesObjects returns all objects by kind and name, each of a file that the kustomization names.
func kubernetesObjects(t testing.TB) map[string]map[string]any {
	t.Helper()
	kustomization := readFile(t, "kubernetes/kustomization.yaml")
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects := make(map[string]map[string]any)
	for _, file := range files {
		base := filepath.Base(file)
		if base == "kustomization.yaml" {
			continue
		}
		if !strings.Contains(kustomization, base) {
			t.Errorf("the kustomization does not name %s", base)
		}
		for _, object := range documents(t, file) {
			objects[object["kind"].(string)+" "+object["metadata"].(map[string]any)["name"].(string)] = object
		}
	}
	return objects
}

func TestKubernetesAgrees(t *testing.T) {
	objects := kubernetesObjects(t)
	var settings struct{ Data map[string]string }
	into(t, objects["ConfigMap limnomap"], &settings)
	type container struct {
		Env   []struct{ Name string }
		Ports []struct{ Name string }
		Args  []string
	}
	type template struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			TerminationGracePeriodSeconds int
			Containers                    []container
		}
	}
	var server struct {
		Spec struct {
			Selector struct{ MatchLabels map[string]string }
			Template template
		}
	}
	into(t, objects["Deployment limnomap"], &server)
	labels, pod := server.Spec.Template.Metadata.Labels, server.Spec.Template.Spec
	var ports []string
	for _, port := range pod.Containers[0].Ports {
		ports = append(ports, port.Name)
	}

	var variables []string
	for name := range settings.Data {
		variables = append(variables, name)
	}
	for _, v := range pod.Containers[0].Env {
		variables = append(variables, v.Name)
	}
	wantVariables(t, "the deployment", strings.Join(variables, " "), "serve")
	var job struct {
		Spec struct {
			JobTemplate struct{ Spec struct{ Template template } }
		}
	}
	into(t, objects["CronJob limnomap-refresh"], &job)
	refresh := job.Spec.JobTemplate.Spec.Template.Spec.Containers[0]
	for _, v := range refresh.Env {
		wantVariables(t, "the refresh", v.Name, refresh.Args[0])
	}

	drain := duration(t, settings.Data["LIMNOMAP_DRAIN"])
	if grace := float64(pod.TerminationGracePeriodSeconds); grace <= (drain + stopping(t)).Seconds() {
		t.Errorf("pods get %v s to end, and need %v and more", grace, drain+stopping(t))
	}
	selects := func(name string, selector map[string]string) {
		for label, value := range selector {
			if labels[label] != value {
				t.Errorf("%s selects %s=%s, pods have %q", name, label, value, labels[label])
			}
		}
		if len(selector) == 0 {
			t.Errorf("%s selects all pods", name)
		}
	}
	selects("the deployment", server.Spec.Selector.MatchLabels)
	var budget struct {
		Spec struct {
			Selector struct{ MatchLabels map[string]string }
		}
	}
	into(t, objects["PodDisruptionBudget limnomap"], &budget)
	selects("the budget", budget.Spec.Selector.MatchLabels)
	for _, name := range []string{"limnomap", "limnomap-admin"} {
		var service struct {
			Spec struct {
				Selector map[string]string
				Ports    []struct{ TargetPort string }
			}
		}
		into(t, objects["Service "+name], &service)
		selects(name, service.Spec.Selector)
		for _, port := range service.Spec.Ports {
			if !slices.Contains(ports, port.TargetPort) {
				t.Errorf("service %s leads to port %q, pods have %q", name, port.TargetPort, ports)
			}
		}
	}
}

// Both compositions are by the letter of the specification, and set what limnomap knows.
func TestCompositions(t *testing.T) {
	s := schema(t, composeSchema(t), "")
	for _, name := range []string{"compose.yaml", "compose.replicated.yaml"} {
		document := documents(t, name)[0]
		if err := s.Validate(any(document)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var known map[string]any
		into(t, document, &known)
		known["services"].(map[string]any)["limnomap-3"] = map[string]any{"imagine": "limnomap"}
		if s.Validate(any(known)) == nil {
			t.Errorf("%s: a field that nobody knows is let through", name)
		}
		text := readFile(t, name)
		wantVariables(t, name, text, "serve")
		for _, m := range regexp.MustCompile(`image: (\S+)`).FindAllStringSubmatch(text, -1) {
			if m[1] != "limnomap" && (!strings.Contains(m[1], ":") || strings.HasSuffix(m[1], ":latest")) {
				t.Errorf("%s: image %s has no version", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`stop_grace_period: (\w+)`).FindAllStringSubmatch(text, -1) {
			if duration(t, m[1]) <= stopping(t) {
				t.Errorf("%s: %s cuts off requests", name, m[0])
			}
		}
	}
}

// What the Dockerfile copies is there, and its last stage holds nothing but files.
func TestDockerfile(t *testing.T) {
	text := strings.ReplaceAll(readFile(t, "Dockerfile"), "\\\n", " ")
	stages := regexp.MustCompile(`(?m)^FROM (?:--platform=\$BUILDPLATFORM )?(\S+)`).FindAllStringSubmatch(text, -1)
	for i, stage := range stages {
		if last := i == len(stages)-1; last != (stage[1] == "scratch") || !last && !regexp.MustCompile(`:\d`).MatchString(stage[1]) {
			t.Errorf("stage %d is from %s", i, stage[1])
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^COPY ([^-\n]+) \S+$`).FindAllStringSubmatch(text, -1) {
		for source := range strings.FieldsSeq(m[1]) {
			if found, err := fs.Glob(os.DirFS(".."), filepath.Clean(source)); err != nil || len(found) != 1 {
				t.Errorf("COPY %s: %q, %v", source, found, err)
			}
		}
	}
	last := text[strings.LastIndex(text, "\nFROM scratch"):]
	if strings.Contains(last, "\nRUN") || !regexp.MustCompile(`\nUSER \d+:\d+\n`).MatchString(last) || !strings.Contains(last, `CMD ["/limnomap", "healthcheck"]`) {
		t.Errorf("the last stage runs something, or as root, or has no healthcheck:\n%s", last)
	}
	wantVariables(t, "Dockerfile", last, "serve")
}
