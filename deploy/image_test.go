//go:build unix

package deploy

import (
	"debug/elf"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// The files that the Dockerfile copies exist, and its last stage runs nothing.
func TestDockerfile(t *testing.T) {
	t.Parallel()
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
	for _, m := range regexp.MustCompile(`\.ci/\w+`).FindAllString(text, -1) {
		if _, err := os.Stat(filepath.Join("..", m)); err != nil {
			t.Error(err)
		}
	}
	last := text[strings.LastIndex(text, "\nFROM scratch"):]
	if strings.Contains(last, "\nRUN") {
		t.Errorf("the last stage runs something:\n%s", last)
	}
	if !strings.Contains(last, "LIMNOMAP_LISTEN=:8080") {
		t.Error("the image does not listen where the compositions and manifests look for it")
	}
	// The image is empty at first. Without /tmp a refresh from a URL could not store its file.
	if !regexp.MustCompile(`\nCOPY --from=build --chown=\S+ \S+ /tmp\n`).MatchString(last) {
		t.Error("the image has no /tmp")
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(readFile(t, "../go.mod"))
	if !regexp.MustCompile(` golang:` + regexp.QuoteMeta(version[1]) + `\.\d+@`).MatchString(text) {
		t.Errorf("the image is not built with Go %s", version[1])
	}
	wantVariables(t, "Dockerfile", last, "serve")
}

// A scratchImage is the result of the last stage of the Dockerfile, in a folder that is the root folder of its processes: the
// binary, and the folders that its user may write to.
type scratchImage struct {
	root        string
	user        syscall.Credential
	writable    []string
	environment []string
}

// makeImage creates the image. Only root may use chroot.
func makeImage(t *testing.T, listen string) *scratchImage {
	t.Helper()
	if os.Geteuid() != 0 {
		testsize.LeaveOut(t, "only root may run an image")
	}
	text := readFile(t, "Dockerfile")
	part := func(expression string) []string {
		t.Helper()
		m := regexp.MustCompile(`(?m)^` + expression + `$`).FindStringSubmatch(text[strings.LastIndex(text, "\nFROM scratch"):])
		if m == nil {
			t.Fatalf("the Dockerfile's last stage has no line %s", expression)
		}
		return m[1:]
	}
	number := func(text string) uint32 {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			t.Fatalf("the image's user is %q", text)
		}
		return uint32(n)
	}
	user := part(`USER (\d+):(\d+)`)
	im := &scratchImage{root: commonDir(t), user: syscall.Credential{Uid: number(user[0]), Gid: number(user[1])}}
	for _, variable := range strings.Fields(part(`ENV (.*)`)[0]) {
		if strings.HasPrefix(variable, "LIMNOMAP_LISTEN=") {
			variable = "LIMNOMAP_LISTEN=" + listen
		}
		im.environment = append(im.environment, variable)
	}
	for _, m := range regexp.MustCompile(`(?m)^COPY --from=build --chown=(\S+) \S+ (/\S+)$`).FindAllStringSubmatch(text, -1) {
		if m[1] != user[0]+":"+user[1] {
			t.Errorf("%s is owned by %s, the user is %q", m[2], m[1], user)
		}
		im.writable = append(im.writable, m[2])
		folder := filepath.Join(im.root, m[2])
		must(t, os.MkdirAll(folder, 0o755))
		must(t, os.Chown(folder, int(im.user.Uid), int(im.user.Gid)))
	}
	must(t, os.Link(limnomaptest.Binary(t), filepath.Join(im.root, part(`COPY --from=build /out/limnomap (\S+)`)[0])))
	return im
}

// command returns a command of the image, from the JSON array in a line of the Dockerfile, with more arguments.
func (im *scratchImage) command(t testing.TB, line string, args ...string) *exec.Cmd {
	t.Helper()
	_, array, _ := strings.Cut(readFile(t, "Dockerfile"), "\n"+line)
	array = array[strings.Index(array, "["):]
	var words []string
	if err := json.Unmarshal([]byte(array[:strings.Index(array, "\n")]), &words); err != nil || len(words) == 0 {
		t.Fatalf("the Dockerfile's %s: %q, %v", line, words, err)
	}
	cmd := exec.Command(words[0], append(words[1:], args...)...)
	cmd.Dir, cmd.Env = "/", im.environment
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: im.root, Credential: &im.user}
	return cmd
}

// The image needs only the binary. Its user, who may write only to the volumes, can import, serve, run the health check, and
// stop the server.
func TestImage(t *testing.T) {
	t.Parallel()
	if file, err := elf.Open(limnomaptest.Binary(t)); runtime.GOOS == "linux" && err != nil {
		t.Fatal(err)
	} else if err == nil {
		if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
			t.Error("the binary is not static")
		}
		file.Close()
	}
	address := limnomaptest.FreeAddress(t)
	im := makeImage(t, address)
	for _, file := range []struct{ kind, rows string }{
		{"lakes", "id,name,lat,lon\nmueggelsee,Müggelsee,52.44,13.65\n"},
		{"observations", "lake_id,date,chl,data_type\nmueggelsee,2026-11-08,12,satellite\n"},
	} {
		cmd := im.command(t, "ENTRYPOINT", "import", file.kind, "-", "--db", "/data/lakes.db")
		cmd.Stdin = strings.NewReader(file.rows)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("import %s: %v\n%s", file.kind, err, out)
		}
	}
	if out, err := im.command(t, "HEALTHCHECK").CombinedOutput(); err == nil {
		t.Errorf("without a server it is healthy: %s", out)
	}

	var serve []string
	_, line, _ := strings.Cut(readFile(t, "Dockerfile"), "\nCMD ")
	must(t, json.Unmarshal([]byte(line), &serve))
	log := new(limnomaptest.Log)
	server := im.command(t, "ENTRYPOINT", append(serve, "--db", "/data/lakes.db", "--drain", "0s", "--cache-min-free", "0")...)
	server.Stderr = log
	must(t, server.Start())
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = server.Process.Kill()
			_ = server.Wait()
		}
	})
	limnomaptest.Within(t, patience, "it is healthy", func() bool { return im.command(t, "HEALTHCHECK").Run() == nil })
	limnomaptest.Within(t, patience, "it has data", func() bool {
		resp, _ := limnomaptest.Get(t, "http://"+address+"/readyz")
		return resp.StatusCode == 200
	})
	for _, path := range []string{"/", "/api/v1/bathing-lakes/status", berlin + ".png"} {
		if resp, body := limnomaptest.Get(t, "http://"+address+path); resp.StatusCode != 200 {
			t.Errorf("GET %s: %s\n%s", path, resp.Status, body)
		}
	}
	ended = true
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	for line := range strings.Lines(log.String()) {
		// Not requests: until there are data, /readyz answers with an error.
		if !strings.Contains(line, "msg=request ") && !strings.Contains(line, "level=INFO") {
			t.Errorf("the log has %s", line)
		}
	}
	im.wantWritten(t)
}

// wantWritten fails the test unless the user has written only to the folders meant for this.
func (im *scratchImage) wantWritten(t *testing.T) {
	t.Helper()
	for _, want := range []string{"data/lakes.db", "cache"} {
		if _, err := os.Stat(filepath.Join(im.root, want)); err != nil {
			t.Error(err)
		}
	}
	entries, err := os.ReadDir(im.root)
	must(t, err)
	for _, e := range entries {
		if name := "/" + e.Name(); name != "/limnomap" && !slices.Contains(im.writable, name) {
			t.Errorf("%s was written", name)
		}
	}
}
