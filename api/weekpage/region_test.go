package weekpage

import (
	"testing"

	"limnomap/api/words/wordstest"
)

func TestNoWordOfARegionIsMissing(t *testing.T) {
	wordstest.NoneMissing[regionWords](t, "../../web", "region")
}
