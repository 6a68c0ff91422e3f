package api

import (
	"testing"

	"go.uber.org/goleak"
)

// No test, and so no server, leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
