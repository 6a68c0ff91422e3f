package snapshot

import (
	"fmt"
	"testing"

	"limnomap/data"
)

// During a load, memory holds at most twice the readings that the newest weeks and one year have for the lakes read so far,
// even if each lake has weeks newer than all before; after it, only the readings that are needed.
func TestLoadHoldsFewSamples(t *testing.T) {
	const (
		lakes, rows, weeks = 1500, 400, 4
		span               = weeks + trophicDays/7 + 2 // maximum readings of one lake, including the older value
	)
	for _, drift := range []data.Date{0, 1, 7, 700, -7} { // days by which each lake's passes are later than those of the lake before
		t.Run(fmt.Sprint(drift), func(t *testing.T) {
			rule := currentRule{&data.Profiles()[0], 28, 14}
			l := loader{until: data.MaxDate, hash: newVersionHash(&rule), weeks: weekCounter{rule: &rule, keep: weeks}}
			for i := range lakes {
				if err := l.lake(data.Lake{ID: data.LakeID(fmt.Sprintf("lake%04d", i)), Name: "Lake"}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range lakes {
				for k := range rows {
					o := data.Observation{
						LakeID: l.lakes[i].ID, Date: data.Date(i)*drift + data.Date(7*k), Chlorophyll: 3_00, Level: data.NoLevel, CellDensity: data.NoCellDensity,
					}
					for _, o.Type = range []data.DataType{data.Satellite, data.Forecast} {
						if err := l.observation(o); err != nil {
							t.Fatal(err)
						}
					}
				}
				got := l.satellite.size + l.forecasts.size
				if most := 2*max(2*i*span, 1<<16) + 2*rows; got > most {
					t.Fatalf("behind %d lakes %d readings are held, want at most %d", i+1, got, most)
				}
			}
			l.finish()
			got := l.satellite.size + l.forecasts.size
			if most := 2 * lakes * span; got > most || got < lakes {
				t.Errorf("%d readings are held of %d lakes, want at most %d, and a value of each", got, lakes, most)
			}
			room := 0
			for _, s := range [][]readingGroup{l.satellite.groups, l.forecasts.groups} {
				for _, g := range s {
					room += cap(g.readings)
				}
			}
			if room > got*9/8+64 {
				t.Errorf("there is room for %d readings, of which %d are held", room, got)
			}
		})
	}
}
