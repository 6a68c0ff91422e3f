// Package deploy tests the files that operators and integrators copy from this folder, each with the program that uses it.
package deploy

import (
	"os"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

func TestMain(m *testing.M) {
	_ = os.Setenv("LIMNOMAP_AS_OF", "data") // the values of these tests are of fixed days
	limnomaptest.Parallel(6)
	limnomaptest.Main(m, browsertest.Close)
}

// patience is how long a test waits for something that takes a few seconds at most on an idle machine.
const patience = 2 * time.Minute

// must ends the test if err is not nil.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
