package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// No scripts of packages run where the packages are installed.
func TestPackagesRunNoScripts(t *testing.T) {
	found := 0
	for _, name := range []string{"../Makefile", "../.ci/setup", "Dockerfile", "../.ci/release", "../.ci/release-twice", "../.ci/test"} {
		for _, line := range strings.Split(readFile(t, name), "\n") {
			if regexp.MustCompile(`\bnpm (?:ci|i|install)\b`).MatchString(line) && !strings.HasPrefix(strings.TrimSpace(line), "#") {
				found++
				if !strings.Contains(line, "--ignore-scripts") {
					t.Errorf("%s: %s", name, line)
				}
			}
		}
	}
	if found < 3 {
		t.Errorf("%d places install packages, want 3 and more", found)
	}
}

// make says which version of a program is missing or too old, and where to get it.
func TestVersionsOfPrograms(t *testing.T) {
	limnomaptest.Need(t, "bash", "go", "sed", "sort")
	for _, tt := range []struct {
		name, program, says, want string
		ok                        bool
	}{
		{"no Go", "go", "", "Go is not installed: get Go 1.", false},
		{"an old Go that gets a newer one", "go", "go1.22.1", "Go 1.22.1 gets Go 1.", true},
		{"a Go before toolchains", "go", "go1.19.8", "Go 1.19.8 is older than 1.", false},
		{"a newer Go", "go", "go1.99.0 X:nothing", "", true},
		{"an old Node", "node", "v18.20.4", "node 18.20.4 is older than 20.19: get Node", false},
		{"an old npm", "npm", "8.19.4", "npm 8.19.4 is older than 9: get Node", false},
		{"a newer Node", "node", "v24.1.0", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			programs := t.TempDir()
			for _, tool := range []string{"bash", "sed", "sort", "head", "dirname", "env"} {
				path, err := exec.LookPath(tool)
				must(t, err)
				must(t, os.Symlink(path, filepath.Join(programs, tool)))
			}
			fakes := map[string]string{"go": "go1.99.0", "node": "v99.0.0", "npm": "99.0.0"}
			fakes[tt.program] = tt.says
			for program, says := range fakes {
				if says != "" {
					script := "#!/bin/sh\n[ \"$2\" = GOTOOLCHAIN ] && echo auto || echo '" + says + "'\n"
					must(t, os.WriteFile(filepath.Join(programs, program), []byte(script), 0o755))
				}
			}
			what := "npm"
			if tt.program == "go" {
				what = "go"
			}
			command := exec.Command("../.ci/versions", what)
			command.Env = []string{"PATH=" + programs}
			out, err := command.CombinedOutput()
			if (err == nil) != tt.ok || !strings.Contains(string(out), tt.want) || tt.want == "" && len(out) > 0 {
				t.Errorf("%v: %s, want %q", err, out, tt.want)
			}
		})
	}
}

// What takes minutes on a busy machine says that it still runs, and ends as the command does.
func TestLongStepsSayThatTheyRun(t *testing.T) {
	limnomaptest.Need(t, "bash")
	command := exec.Command("../.ci/patiently", "bash", "-c", "for ((n = 0; n < 20; n++)); do sleep .05; done; echo made; exit 3")
	command.Env = append(os.Environ(), "EVERY=.1")
	out, err := command.CombinedOutput()
	if command.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), " s\n") || !strings.HasSuffix(string(out), "made\n") {
		t.Errorf("%v: %s, want lines of seconds, then the command's, and its exit code 3", err, out)
	}
	for _, line := range strings.Split(readFile(t, "../Makefile"), "\n") {
		if strings.Contains(line, "npm ci") && (!strings.Contains(line, "--no-update-notifier") || !strings.Contains(line, ".ci/patiently npm ci") || !strings.Contains(line, ".ci/patiently npm run")) {
			t.Errorf("Makefile: %s", line)
		}
	}
}
