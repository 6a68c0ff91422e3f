//go:build linux

package deploy

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

const unit = "limnomap.service"

// mostExposure is ten times the exposure level of systemd-analyze. The rest is that a server needs the network and has no
// root folder of its own.
const mostExposure = "12"

func TestUnit(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "systemd-analyze")
	text := readFile(t, unit)
	const installed = "/usr/local/bin/limnomap"
	if !strings.Contains(text, "ExecStart="+installed+" serve\n") {
		t.Fatalf("the unit does not start %s", installed)
	}
	// systemd checks that the program exists.
	path := limnomaptest.WriteFile(t, t.TempDir(), unit, strings.ReplaceAll(text, installed, limnomaptest.Binary(t)))
	if out := output(t, "systemd-analyze", "verify", "--man=no", path); out != "" {
		t.Errorf("systemd-analyze verify says:\n%s", out)
	}
	out := output(t, "systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold="+mostExposure, unit)
	t.Log(out[strings.LastIndex(out, "Overall"):])

	wantVariables(t, unit, text, "serve")
	environment := make(map[string]string)
	for _, assignment := range setting(t, text, "Environment") {
		name, value, _ := strings.Cut(assignment, "=")
		environment[name] = value
	}
	wantAccepted(t, unit, environment, "serve")
	// The services that give a machine's credentials to any process on it; the rest of the network is open for --refresh-from.
	if denied := setting(t, text, "IPAddressDeny"); len(denied) != 1 || !slices.Contains(strings.Fields(denied[0]), "link-local") || slices.Contains(strings.Fields(denied[0]), "any") {
		t.Errorf("IPAddressDeny=%q, want link-local addresses among others, and not all", denied)
	}
	if stop := setting(t, text, "TimeoutStopSec"); duration(t, stop[0]+"s") <= stopping(t) {
		t.Errorf("TimeoutStopSec=%s cuts off requests: --drain and --shutdown are %v", stop, stopping(t))
	}
}

// withLooked removes calls from a set of excluded calls.
func withLooked(set string, calls []string) string {
	for _, call := range calls {
		set = strings.ReplaceAll(set+",", "?"+call+",", "")
	}
	return strings.TrimRight(set, ",")
}

var (
	refused    = regexp.MustCompile(`(\w+)\(.*\(INJECTED\)`)
	family     = regexp.MustCompile(`socket\((AF_\w+)`)
	writeExec  = regexp.MustCompile(`(mmap|mprotect)\(.*PROT_EXEC`)
	namespaces = regexp.MustCompile(`CLONE_NEW\w+`)
)

// setting returns the values of a directive, in the order of the unit.
func setting(t testing.TB, text, name string) (values []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllStringSubmatch(text, -1) {
		values = append(values, m[1])
	}
	if values == nil {
		t.Fatalf("the unit has no %s=", name)
	}
	return values
}

// allowedCalls returns the system calls that the filter of the unit allows.
func allowedCalls(t testing.TB, text string) []string {
	t.Helper()
	allowed := make(map[string]bool)
	for _, filter := range setting(t, text, "SystemCallFilter") {
		names, deny := strings.CutPrefix(filter, "~")
		for group := range strings.FieldsSeq(names) {
			for _, call := range callsOf(t, group) {
				allowed[call] = !deny
			}
		}
	}
	var calls []string
	for call, ok := range allowed {
		if ok {
			calls = append(calls, call)
		}
	}
	if len(calls) < 100 {
		t.Fatalf("the filter allows %q", calls)
	}
	slices.Sort(calls)
	return calls
}

// callsOf returns the system calls of a systemd group such as @file-system.
func callsOf(t testing.TB, group string) (calls []string) {
	t.Helper()
	if !strings.HasPrefix(group, "@") {
		return []string{group}
	}
	for line := range strings.Lines(output(t, "systemd-analyze", "syscall-filter", "--no-pager", group)) {
		line, indented := strings.CutPrefix(line, "    ")
		if line = strings.TrimSpace(line); indented && !strings.HasPrefix(line, "#") {
			calls = append(calls, callsOf(t, line)...)
		}
	}
	return calls
}
