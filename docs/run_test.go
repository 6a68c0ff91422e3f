//go:build unix

package docs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// mostBlockTime is how long a block may run.
const mostBlockTime = 3 * time.Minute

// inBackground ends the background processes of a block and waits for them. It is on the first line of the block, so that the
// line numbers in messages of bash are right.
const inBackground = `trap 'limnomap_jobs=$(jobs -p); [ -z "$limnomap_jobs" ] || kill $limnomap_jobs || true; wait' EXIT; `

var (
	// servesLast matches a block whose last command is a server.
	servesLast = regexp.MustCompile(`(?m)^limnomap (?:serve|refresh .*--every)\b(?:.*\\\n)*.*[^&\n]\n?\z`)
	// installed matches the programs of make setup that blocks call.
	installed = regexp.MustCompile(`\b(?:curl|gdal_translate|gdalinfo|ogr2ogr|promtool|python3)\b`)
	// installedLong matches those of make setup long.
	installedLong = regexp.MustCompile(`\b(?:gdal_translate|gdalinfo|ogr2ogr|promtool)\b`)
	// packages matches imports of Python packages that only make setup long installs, for the Python of Debian, and libraries matches those of R.
	packages  = regexp.MustCompile(`(?m)^(?:import|from) (geopandas|pandas|qgis|xarray)\b`)
	libraries = regexp.MustCompile(`(?m)^library\((\w+)\)`)
	// serves matches the log line of a server that is ready.
	serves = regexp.MustCompile(`msg="?(?:serving|refresh)`)
)

// long reports whether a block needs a program that only make test-long installs.
func (b block) long() bool {
	return b.language == "r" || b.language == "sh" && installedLong.MatchString(b.text) || b.language == "python" && packages.MatchString(b.text)
}

// needPackages leaves the test out without the packages that a block imports.
func needPackages(t *testing.T, b block) {
	t.Helper()
	for folder, names := range map[string]*regexp.Regexp{"/usr/lib/python3/dist-packages": packages, "/usr/lib/R/site-library": libraries} {
		for _, found := range names.FindAllStringSubmatch(b.text, -1) {
			limnomaptest.NeedFolder(t, filepath.Join(folder, found[1]))
		}
	}
}

// checkTypeScript compiles a block beside the types of the description of the API.
func checkTypeScript(t *testing.T, b block) {
	t.Helper()
	limnomaptest.Need(t, "node")
	modules, err := filepath.Abs("../web/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	limnomaptest.NeedFolder(t, modules)
	description, err := filepath.Abs("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	limnomaptest.WriteFile(t, dir, "block.ts", b.text)
	for _, args := range [][]string{
		{"openapi-typescript/bin/cli.js", description, "-o", "limnomap.d.ts"},
		{"typescript/bin/tsc", "--noEmit", "--strict", "--target", "es2022", "--moduleResolution", "bundler", "--module", "esnext", "block.ts", "limnomap.d.ts"},
	} {
		cmd := exec.Command("node", append([]string{filepath.Join(modules, args[0])}, args[1:]...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, shortened(string(out)))
		}
	}
}

// run runs a block with a program that reads a file, in the folder of the page, and keeps the output.
func (e *examples) run(t *testing.T, i int, b block, program string, flags ...string) {
	t.Helper()
	e.last = output{block: -1}
	limnomaptest.Need(t, program)
	if program == "bash" {
		limnomaptest.Need(t, installed.FindAllString(b.text, -1)...)
	}
	needPackages(t, b)
	e.front.forget()
	dir := t.TempDir() // not in the folder of the page, whose files a block may list
	script := b.text
	if program == "bash" {
		script = inBackground + script
	}
	cmd := exec.Command(program, append(flags, limnomaptest.WriteFile(t, dir, "block", script))...)
	cmd.Dir = e.folder
	cmd.Env = append(limnomaptest.Environ(),
		"PATH="+filepath.Dir(limnomaptest.Binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HOME="+e.folder, "XDG_CACHE_HOME="+dir,
		"LIMNOMAP_LISTEN=127.0.0.1:0", "LIMNOMAP_DRAIN=0s", // the server of a block uses a free port and ends at once
	)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, stderr := createFile(t, dir, "stdout"), createFile(t, dir, "stderr") // files, since a server may outlive the block and keep them open
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the process
	err := waitFor(cmd, ended, func() bool { return servesLast.MatchString(b.text) && serves.Match(readFile(t, stderr)) })
	e.last = output{block: i, stdout: string(readFile(t, stdout)), stderr: string(readFile(t, stderr))}
	if err != nil {
		e.last.block = -1
		t.Fatalf("%s: %v\n%s\n%s%s", program, err, b.text, shortened(e.last.stdout), shortened(e.last.stderr))
	}
	if refused := e.front.answers(answer.refused); (len(refused) > 0) != b.marked("refused") {
		t.Errorf("the server refused %v, and the block's marks are %q", refused, b.marks)
	}
}

// waitFor waits for a process to end. It ends the process and its children if it is a server, or takes too long.
func waitFor(cmd *exec.Cmd, ended <-chan error, serves func() bool) error {
	timeout := time.After(mostBlockTime)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-timeout:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails if the process has ended
			<-ended
			return errors.New("it does not end")
		case <-tick.C:
			if serves() {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
				select {
				case <-ended: // because of the signal; the exit code depends on the shell
					return nil
				case <-timeout:
					_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
					<-ended
					return errors.New("it does not end after SIGTERM")
				}
			}
		}
	}
}

func createFile(t *testing.T, dir, name string) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// readFile returns the current content of a file.
func readFile(t *testing.T, file *os.File) []byte {
	t.Helper()
	content, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return content
}
