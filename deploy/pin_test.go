//go:build long

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// .ci/pin asks docker for the digest of each image and writes it into all files, or changes nothing if one is missing. There
// is no registry here: docker is a script that answers as buildx does.
func TestPinImages(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "bash", "sed")
	run := func(t *testing.T, docker string, args ...string) (files map[string]string, out string, err error) {
		t.Helper()
		project := t.TempDir()
		for _, dir := range []string{".ci", "deploy", "bin"} {
			must(t, os.Mkdir(filepath.Join(project, dir), 0o755))
		}
		script := limnomaptest.WriteFile(t, filepath.Join(project, ".ci"), "pin", readFile(t, "../.ci/pin"))
		for _, name := range imageFiles {
			limnomaptest.WriteFile(t, filepath.Join(project, "deploy"), name, readFile(t, name))
		}
		fake := limnomaptest.WriteFile(t, filepath.Join(project, "bin"), "docker", "#!/bin/sh\n"+docker)
		must(t, os.Chmod(fake, 0o755))
		cmd := exec.Command("bash", append([]string{script}, args...)...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(project, "bin")+":"+os.Getenv("PATH"))
		text, err := cmd.CombinedOutput()
		files = map[string]string{}
		for _, name := range imageFiles {
			files[name] = readFile(t, filepath.Join(project, "deploy", name))
		}
		return files, string(text), err
	}
	// The digest is a hash of the image's name, the last argument.
	const newer = `[ "$1 $2 $3 $4" = "buildx imagetools inspect --format" ] || exit 9
for image; do :; done
printf 'sha256:%s\n' "$(printf %s "$image" | sha256sum | cut -d ' ' -f 1)"`

	files, out, err := run(t, newer)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range files {
		before := imagesIn(readFile(t, name))
		for i, image := range imagesIn(text) {
			version, _, _ := strings.Cut(before[i], "@")
			if want := strings.TrimSpace(version + "@sha256:" + output(t, "sh", "-c", `printf %s "$1" | sha256sum | cut -d ' ' -f 1`, "-", version)); image != want {
				t.Errorf("%s: %s became %s, want %s", name, before[i], image, want)
			}
		}
		strip := func(text string) string { return regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(text, "") }
		if strip(text) != strip(readFile(t, name)) {
			t.Errorf("%s changed in more than its digests:\n%s", name, text)
		}
	}

	unchanged := func(files map[string]string) bool {
		return !slices.ContainsFunc(imageFiles, func(name string) bool { return files[name] != readFile(t, name) })
	}
	if files, out, err := run(t, newer, "--check"); err == nil || !unchanged(files) || !strings.Contains(out, "> ") {
		t.Errorf("--check with newer images ends with %v, the files are unchanged: %v\n%s", err, unchanged(files), out)
	}
	var known strings.Builder
	known.WriteString("for image; do :; done\ncase $image in\n")
	for _, name := range imageFiles {
		for _, image := range imagesIn(readFile(t, name)) {
			version, digest, _ := strings.Cut(image, "@")
			known.WriteString(version + ") echo " + digest + ";;\n")
		}
	}
	if files, out, err := run(t, known.String()+"esac", "--check"); err != nil || out != "" || !unchanged(files) {
		t.Errorf("--check with the present images ends with %v, the files are unchanged: %v\n%s", err, unchanged(files), out)
	}
	for _, broken := range []string{"exit 1", "echo unknown", newer + `
case $image in nginx*) exit 1;; esac`} {
		if files, out, err := run(t, broken); err == nil || !unchanged(files) {
			t.Errorf("with the docker %q it ends with %v, the files are unchanged: %v\n%s", broken, err, unchanged(files), out)
		}
	}
}
