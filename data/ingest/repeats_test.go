package ingest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// A key may be repeated once for each file and maxRepeatsOfKey times more. The error names the line, the key and the bound.
func TestRepeatsOfAKey(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	row := "x,2024-01-01,1,satellite\n"
	text := "lake_id,date,chl,data_type\n" + strings.Repeat(row, maxRepeatsOfKey+2)
	if r := mustImport(t, Observations, s, nil, text); r.Unchanged != maxRepeatsOfKey+1 {
		t.Errorf("report: %v", r)
	}
	for _, skip := range []bool{false, true} {
		for name, more := range map[string]string{"equal": row, "different": "x,2024-01-01,2,satellite\n"} {
			r, err := Observations(t.Context(), s, files(text+more), &Options{SkipBad: skip})
			want := fmt.Sprintf("a.csv: line %d: this lake, date 2024-01-01, data_type satellite of lake \"x\" is repeated more than %d times", maxRepeatsOfKey+4, maxRepeatsOfKey+1)
			if err == nil || !strings.Contains(err.Error(), want) || r.Written {
				t.Errorf("%s: %v, %v; want %q", name, r, err, want)
			}
		}
	}
	lakes := features(strings.Repeat(featureOf(`"id":"x","name":"X"`, pointGeometry)+",", maxRepeatsOfKey+2) + featureOf(`"id":"x","name":"X"`, pointGeometry))
	if _, err := Lakes(t.Context(), storetest.New(t), files(lakes), nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`a.csv: feature %d: this id of lake "x" is repeated more`, maxRepeatsOfKey+3)) {
		t.Errorf("lakes: error %v", err)
	}
}

// In all, an import may have as many repeated rows as other rows for each file, and maxRepeatedRows more.
func TestRepeatedRowsInAll(t *testing.T) {
	lake := func(i int) parsed[data.Lake] {
		return parsed[data.Lake]{origin: origin{number: i}, value: data.Lake{ID: data.LakeID(fmt.Sprint(i))}}
	}
	for files, most := range map[int]int{1: maxRepeatedRows + 50, 3: maxRepeatedRows + 150} {
		im := importer[data.Lake]{kind: lakeKind{}, files: make([]File, files), repeats: make(map[string]int)}
		give := func(n int, again bool) (err error) {
			var rows []parsed[data.Lake]
			var repeated []int
			im.good = im.good[:0]
			for i := range n {
				rows = append(rows, lake(i))
				im.good = append(im.good, rows[i].value)
				if again {
					repeated = append(repeated, i)
				}
			}
			return im.countRepeats(repeated, rows)
		}
		if err := give(50, false); err != nil {
			t.Fatal(err)
		}
		if err := give(most, true); err != nil {
			t.Errorf("%d files, %d repeated rows: %v", files, most, err)
		}
		if err := give(1, true); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("want at most %d, since there are 50 other rows", most)) {
			t.Errorf("%d files, %d repeated rows: %v", files, most+1, err)
		}
		if len(im.repeats) > maxFirsts {
			t.Errorf("%d keys are counted, want at most %d", len(im.repeats), maxFirsts)
		}
	}
}

// An import of a file that does not end is over when its time is, and writes nothing.
func TestImportTimeout(t *testing.T) {
	s := storetest.New(t)
	endlessly := fileOf("endless", func() io.Reader {
		return io.MultiReader(strings.NewReader(aLake), &endless{text: ",,,\n", bytes: 1 << 50})
	})
	_, err := Lakes(t.Context(), s, []File{endlessly}, &Options{Timeout: 50 * time.Millisecond})
	if !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("error %v, want %v", err, ErrTimeout)
	}
	if lakes, _ := stored(t, s); len(lakes) > 0 {
		t.Errorf("stored %v, want nothing", lakes)
	}
}
