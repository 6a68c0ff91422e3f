// Package deploy tests what operators and integrators copy from this folder, each with the real program that it is for.
package deploy

import (
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestMain(m *testing.M) { limnomaptest.Main(m) }
