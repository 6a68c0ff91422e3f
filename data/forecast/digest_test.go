package forecast

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"limnomap/data/testsize"
)

// digest is what testdata/digest prints. It changes if the model does.
const digest = "464fa04dad9bb8bd90a6ff0d58be76355a8866ee1967bce011d8eed923fe75d8"

// The forecasts are the same bits on this processor, with its fused multiply-add, and on arm64.
func TestDigest(t *testing.T) {
	for _, c := range []struct {
		name, arch string
		env        string
		emulator   []string
	}{
		{name: "this processor"},
		{name: "amd64 with fused multiply-add", arch: "amd64", env: "GOAMD64=v3"},
		{name: "arm64", arch: "arm64", env: "GOARCH=arm64", emulator: []string{"qemu-aarch64-static"}},
	} {
		if c.arch != "" && !testsize.Long {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			switch {
			case c.arch == "" || c.arch == runtime.GOARCH:
				c.emulator = nil
			case c.emulator == nil:
				t.Skipf("this is %s", runtime.GOARCH)
			default:
				if _, err := exec.LookPath(c.emulator[0]); err != nil {
					testsize.LeaveOut(t, c.emulator[0]+" is not installed: nothing is computed on "+c.arch)
				}
			}
			if c.env == "GOAMD64=v3" {
				cpu, err := os.ReadFile("/proc/cpuinfo")
				if err != nil || !bytes.Contains(cpu, []byte(" fma ")) || !bytes.Contains(cpu, []byte(" avx2 ")) {
					testsize.LeaveOut(t, "no processor with GOAMD64=v3")
				}
			}
			binary := filepath.Join(t.TempDir(), "digest")
			build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./testdata/digest")
			build.Env = append(os.Environ(), "CGO_ENABLED=0", c.env)
			if c.env == "" {
				build.Env = os.Environ()
			}
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			args := append(slices.Clone(c.emulator), binary)
			out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != digest {
				t.Errorf("digest = %s, %v, want %s", got, err, digest)
			}
		})
	}
}
