package snapshot_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Tests must not leave goroutines running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
