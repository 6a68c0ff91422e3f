package snapshot_test

import (
	"context"
	"fmt"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"

	"github.com/paulmach/orb"
)

// Two lakes in two weeks: in the newer week clouds hid the second lake, so it keeps its older value.
func ExampleLoad() {
	monday := data.DateOf(time.Date(2026, 7, 6, 0, 0, 0, 0, time.UTC))
	observation := func(id data.LakeID, date data.Date, c data.Chlorophyll) data.Observation {
		return data.Observation{LakeID: id, Date: date, Chlorophyll: c, Level: data.NoLevel, CellDensity: data.NoCellDensity}
	}
	src := &memory{
		lakes: []data.Lake{
			{ID: "de_be_wannsee", Name: "Großer Wannsee", Point: orb.Point{13.17, 52.43}},
			{ID: "de_by_chiemsee", Name: "Chiemsee", Point: orb.Point{12.45, 47.89}},
		},
		observations: []data.Observation{
			observation("de_be_wannsee", monday, 38_00),
			observation("de_be_wannsee", monday+7, 61_25),
			observation("de_by_chiemsee", monday, 2_10),
			observation("de_by_chiemsee", monday+7, data.NoChlorophyll),
		},
	}
	snapshot, err := snapshot.Load(context.Background(), src, &snapshot.Options{AsOf: snapshot.Newest})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, week := range snapshot.Weeks {
		view, err := snapshot.View(context.Background(), week.Week)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, lake := range view.Lakes {
			state := view.States[i]
			fmt.Printf("%s %s: %s µg/l, risk %s\n", view.Week, lake.Name, state.Chlorophyll, state.Risk)
		}
	}
	// Output:
	// 2026-W28 Großer Wannsee: 38 µg/l, risk medium
	// 2026-W28 Chiemsee: 2.1 µg/l, risk low
	// 2026-W29 Großer Wannsee: 61.25 µg/l, risk high
	// 2026-W29 Chiemsee: 2.1 µg/l, risk low
}

// A service publishes each snapshot to its handlers through one atomic pointer; here the first one is enough.
func ExampleWatcher() {
	ctx, stop := context.WithCancel(context.Background())
	watcher := &snapshot.Watcher{
		Source: &memory{revision: data.Revision{Number: 1}},
		Publish: func(s *snapshot.Snapshot) {
			fmt.Println("revision", s.Revision.Number)
			stop()
		},
		Failed: func(err error) { fmt.Println(err) },
	}
	watcher.Run(ctx)
	// Output: revision 1
}
