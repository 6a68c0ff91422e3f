package limnomaptest

import (
	"regexp"
	"testing"
)

var crash = regexp.MustCompile(`panic[:=]|DATA RACE|fatal error|goroutine \d+ \[`)

// NoCrash fails the test if a server's log says that the server has panicked or crashed, or that the race detector has found a race. The
// word panic alone is a part of some random request ids.
func NoCrash(t testing.TB, log string) {
	t.Helper()
	if sign := crash.FindString(log); sign != "" {
		t.Errorf("%q in the log:\n%s", sign, log)
	}
}
