package ingest

import (
	"fmt"
	"strings"
	"testing"

	"limnomap/data/store/storetest"
)

// Each feature may have new property names, without end: only as many are remembered as a report shows, and one more to show
// that there are more.
func TestIgnoredNamesAreBounded(t *testing.T) {
	var fs []string
	for i := range 3 * maxShownColumns {
		fs = append(fs, featureOf(fmt.Sprintf(`"id":"x%d","name":"X","p%d":1,"q":2`, i, i), pointGeometry))
	}
	r := mustImport(t, Lakes, storetest.New(t), nil, features(fs...))
	if s := r.String(); len(r.Ignored) != maxShownColumns+1 || !strings.Contains(s, `"p0", "q", "p1"`) || !strings.Contains(s, `"p28", ....`) {
		t.Errorf("%d names are remembered; report: %s\nwant 30 names, and a sign that there are more", len(r.Ignored), s)
	}
}
