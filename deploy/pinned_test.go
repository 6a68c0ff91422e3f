package deploy

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// imageFiles are the files that name images of others.
var imageFiles = []string{"Dockerfile", "compose.yaml", "compose.replicated.yaml"}

// imagesIn returns the images that a file names, but for limnomap's own and the empty one.
func imagesIn(text string) (images []string) {
	for _, m := range regexp.MustCompile(`(?m)^(?:FROM (?:--platform=\S+ )?|\s*image: )(\S+)`).FindAllStringSubmatch(text, -1) {
		if m[1] != "limnomap" && m[1] != "scratch" {
			images = append(images, m[1])
		}
	}
	return images
}

// Every image of others has a version and a digest, the same in every file.
func TestImagesArePinned(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^([\w./-]+:[\w.-]+)@(sha256:[0-9a-f]{64})$`)
	digests := map[string]string{}
	for _, name := range imageFiles {
		images := imagesIn(readFile(t, name))
		if len(images) < 2 {
			t.Errorf("%s has the images %q, want two or more", name, images)
		}
		for _, image := range images {
			m := pinned.FindStringSubmatch(image)
			if m == nil {
				t.Errorf("%s: image %s has no version with a digest", name, image)
			} else if before := digests[m[1]]; before != "" && before != m[2] {
				t.Errorf("%s: image %s has the digest %s elsewhere", name, image, before)
			} else {
				digests[m[1]] = m[2]
			}
		}
	}
}

// .ci/pin asks docker for the digest of each image and writes it into all files, or changes nothing if one is missing. There
// is no registry here: docker is a script that answers as buildx does.
func TestPinImages(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "bash", "sed")
	run := func(t *testing.T, docker string, args ...string) (files map[string]string, out string, err error) {
		t.Helper()
		project := t.TempDir()
		for _, dir := range []string{".ci", "deploy", "bin"} {
			if err := os.Mkdir(filepath.Join(project, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		script := limnomaptest.WriteFile(t, filepath.Join(project, ".ci"), "pin", readFile(t, "../.ci/pin"))
		for _, name := range imageFiles {
			limnomaptest.WriteFile(t, filepath.Join(project, "deploy"), name, readFile(t, name))
		}
		fake := limnomaptest.WriteFile(t, filepath.Join(project, "bin"), "docker", "#!/bin/sh\n"+docker)
		if err := os.Chmod(fake, 0o755); err != nil {
			t.Fatal(err)
		}
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

// Each service drops all capabilities, and gains no privileges. Only nginx has some again: it starts as root, for port 80 and to
// start its workers as another user.
func TestComposedPrivileges(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"compose.yaml", "compose.replicated.yaml"} {
		var c struct {
			Services map[string]struct {
				CapDrop     []string `json:"cap_drop"`
				CapAdd      []string `json:"cap_add"`
				SecurityOpt []string `json:"security_opt"`
				Tmpfs       []string
				Volumes     []string
			}
		}
		into(t, documents(t, name)[0], &c)
		for service, s := range c.Services {
			if !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
				t.Errorf("%s: %s drops the capabilities %q, with %q", name, service, s.CapDrop, s.SecurityOpt)
			}
			if want := (map[string][]string{"nginx": {"CHOWN", "NET_BIND_SERVICE", "SETGID", "SETUID"}})[service]; !slices.Equal(s.CapAdd, want) {
				t.Errorf("%s: %s has the capabilities %q, want %q", name, service, s.CapAdd, want)
			}
			for _, folder := range s.Tmpfs {
				if !regexp.MustCompile(`^/\w+:size=\d+m,`).MatchString(folder) {
					t.Errorf("%s: %s has %s without a size", name, service, folder)
				}
			}
			if slices.Contains(s.Volumes, "/tmp") {
				t.Errorf("%s: the /tmp of %s has no size", name, service)
			}
			if strings.HasPrefix(service, "limnomap") && len(s.Tmpfs) != 1 {
				t.Errorf("%s: %s has no /tmp", name, service)
			}
		}
	}
}

// nginx of the replicated composition starts with the capabilities that it has there, and no more, and its workers answer as another
// user.
func TestNginxPrivileges(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "nginx", "setpriv")
	if os.Geteuid() != 0 {
		limnomaptest.LeaveOut(t, "only root may drop capabilities")
	}
	var c struct {
		Services map[string]struct {
			CapAdd []string `json:"cap_add"`
		}
	}
	into(t, documents(t, "compose.replicated.yaml")[0], &c)
	bounding := "-all"
	for _, capability := range c.Services["nginx"].CapAdd {
		bounding += ",+" + strings.ToLower(capability)
	}
	server := limnomaptest.Shared(t)
	dir, address := commonDir(t), limnomaptest.FreeAddress(t)
	upstream := strings.TrimPrefix(server.Base, "http://")
	conf := replaced(t, "nginx.conf", "limnomap-1:8080", upstream, "limnomap-2:8080", upstream, "listen 80;", "listen "+address+";", "/tmp/", dir+"/")
	path := limnomaptest.WriteFile(t, dir, "nginx.conf", conf)
	nginx := exec.Command("setpriv", "--bounding-set="+bounding, "--inh-caps=-all", "--no-new-privs", "nginx", "-e", "stderr", "-c", path, "-g", "daemon off;")
	runProxy(t, nginx, func() error {
		_, err := os.Stat(filepath.Join(dir, "nginx.pid"))
		return err
	})
	limnomaptest.Within(t, patience, "nginx passes a request on", func() bool {
		resp, err := http.Get("http://" + address + "/healthz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	pid := strings.TrimSpace(readFile(t, filepath.Join(dir, "nginx.pid")))
	workers := strings.Fields(output(t, "sh", "-c", `cat /proc/"$1"/task/*/children`, "-", pid))
	if len(workers) == 0 {
		t.Fatal("nginx has no worker")
	}
	for _, worker := range workers {
		if owner := output(t, "stat", "-c", "%u", "/proc/"+worker); strings.TrimSpace(owner) == "0" {
			t.Errorf("worker %s of nginx runs as root", worker)
		}
	}
}
