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
	"limnomap/data/testsize"
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
		testsize.LeaveOut(t, "only root may drop capabilities")
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
