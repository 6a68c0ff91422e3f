package ingest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"limnomap/data/ingest"
	"limnomap/data/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "ingest")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "lakes.db"), true)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	const text = "id;name;lat;lon\nde_mv_mueritz;Müritz;53,42;12,7\nde_mv_schwerin;Schweriner See;537;11,46\n"
	lakes := []ingest.File{ingest.NewFile("lakes.csv", strings.NewReader(text), int64(len(text)))}
	report, err := ingest.Lakes(ctx, s, lakes, &ingest.Options{SkipBad: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report)
	// Output:
	// 2 rows read: 1 added, 0 changed, 0 unchanged, 1 rejected.
	// lakes.csv, line 3 (de_mv_schwerin): lat "537": want a number from -90 to 90 degrees.
}
