// Package docs tests the documents: examples, links and names.
package docs

import (
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

func TestMain(m *testing.M) { limnomaptest.Main(m, browsertest.Close) }

// patience is how long a test waits for something that takes a few seconds at most on an idle machine.
const patience = 2 * time.Minute
