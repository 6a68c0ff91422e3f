package weekpage

import (
	"testing"

	"limnomap/api/words/wordstest"
)

func TestNoWordIsMissing(t *testing.T) { wordstest.NoneMissing[ownWords](t, "../../web", "week") }
