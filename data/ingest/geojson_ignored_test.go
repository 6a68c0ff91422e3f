package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Each feature may have new property names, without end: only as many are remembered as a report shows, and one more to show
// that there are more.
func TestIgnoredNamesAreBounded(t *testing.T) {
	const n = 3 * maxShownColumns
	var fs []string
	for i := range n {
		fs = append(fs, featureOf(fmt.Sprintf(`"id":"x%d","name":"X","p%d":1,"q":2`, i, i), pointGeometry))
	}
	rs, err := openRows(bufio.NewReaderSize(strings.NewReader(features(fs...)), maxRowBytes), &layout{columns: lakeColumns(), json: featureCollection})
	if err != nil {
		t.Fatal(err)
	}
	for {
		var bad badRow
		if _, err := rs.next(); errors.As(err, &bad) {
			t.Fatalf("feature %d: %v", rs.number(), err)
		} else if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got := rs.unknown(); rs.number() != n || len(got) != maxShownColumns+1 || got[0] != "p0" || got[1] != "q" || got[2] != "p1" {
		t.Errorf("of %d features are remembered %d names, %q, want the first %d", rs.number(), len(got), got, maxShownColumns+1)
	}
	if s := mustImport(t, Lakes, newStore(t), nil, features(fs...)).String(); !strings.Contains(s, `"p0", "q", "p1"`) || !strings.Contains(s, `"p28", ....`) {
		t.Errorf("report: %s\nwant 30 names, and a sign that there are more", s)
	}
}
