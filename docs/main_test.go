// Package docs tests that what the documents say is so.
package docs

import (
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestMain(m *testing.M) { limnomaptest.Main(m) }
