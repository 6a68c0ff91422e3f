// Package testsize says whether the long tests run, and leaves out tests for which something is missing. make test runs one case of each kind, and make test-long all of them, with the
// build tag long. A test that is only for make test-long is in a file that begins with the tag; a test with a long and a short form
// takes its size from here.
package testsize

import (
	"flag"
	"os"
	"testing"
)

// Of returns short, or long with the build tag long.
func Of[T any](short, long T) T {
	if Long {
		return long
	}
	return short
}

// Cases returns the first n cases, or all with the build tag long.
func Cases[T any](n int, all []T) []T {
	return all[:Of(n, len(all))]
}

// LeaveOut skips a test because something is missing. In CI, where no test may be left out, it fails the test.
func LeaveOut(t testing.TB, missing string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip("LEFT OUT: " + missing)
}

// FewerChecks lets rapid make n cases for each property in place of 100, without the build tag long. It is for TestMain of packages whose
// properties need a database or a whole command.
func FewerChecks(n string) {
	if !Long {
		if err := flag.Set("rapid.checks", n); err != nil {
			panic(err)
		}
	}
}
