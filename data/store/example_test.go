package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
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

	err = s.Import(ctx, func(tx store.Tx) error {
		changes, err := tx.PutLakes(ctx, []data.Lake{{
			ID: "de_mv_mueritz", ExternalID: "de_mv_mueritz", Name: "Müritz", Point: orb.Point{12.7, 53.42},
		}}, store.LakeColumns{})
		fmt.Println(changes)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	lake, history, err := s.History(ctx, "de_mv_mueritz", data.Newest(104))
	fmt.Println(lake.Name, len(history), err)
	// Output:
	// [added]
	// Müritz 0 <nil>
}
