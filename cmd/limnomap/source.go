package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"limnomap/api"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/demo"
	"limnomap/data/store"
)

// sourceFlags say which data are shown and how they are read. Commands that draw tiles take them alike, so that they draw
// the same ones.
type sourceFlags struct {
	DB         string `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then. Without one, the embedded demo with simulated values is shown." placeholder:"FILE|URL" secret:"" group:"Data"`
	Profile    string `help:"Classification of chlorophyll-a: ${enum}." enum:"${profiles}" default:"who2003" group:"Data"`
	StaleAfter period `help:"How much older than the newest observation a lake's current value may be, in whole days." default:"28d" group:"Data"`
	Weeks      int    `help:"How many of the newest weeks have their maps made from memory; those of older ones are read from the database. A lake takes 8 bytes a week." default:"104" group:"Data"`
}

// A source is where the data come from, with what must be said of them.
type source struct {
	data.Source
	api.Keys
	notice  string
	options data.SnapshotOptions
	store   store.Store // nil for the demo
	close   func() error
}

// snapshotOptions returns how the data are read, by the flags alone.
func (f *sourceFlags) snapshotOptions() (options data.SnapshotOptions, err error) {
	profile, err := data.ProfileByID(f.Profile)
	if err != nil {
		return options, fmt.Errorf("--profile: %w", err)
	}
	days := time.Duration(f.StaleAfter)
	if days < day || days%day != 0 {
		return options, fmt.Errorf("--stale-after %v: allowed are whole days, at least 1d", days)
	}
	if f.Weeks < 1 {
		return options, fmt.Errorf("--weeks %d: at least 1 is needed", f.Weeks)
	}
	return data.SnapshotOptions{Profile: profile, StaleAfter: int(days / day), Weeks: f.Weeks}, nil
}

// inspectSource returns what would keep open from opening, as far as that shows without opening.
func (f *sourceFlags) inspectSource(create bool) error {
	if _, err := f.snapshotOptions(); err != nil || f.DB == "" {
		return err
	}
	if err := store.Check(f.DB, create); err != nil {
		return fmt.Errorf("--db: %w", err)
	}
	return nil
}

// open returns the database's data, or the demo's. Where there is no database it makes one if create is set.
func (f *sourceFlags) open(ctx context.Context, create bool) (*source, error) {
	options, err := f.snapshotOptions()
	if err != nil {
		return nil, err
	}
	if f.DB == "" {
		d := demo.New(time.Now)
		return &source{d, d, demo.Notice, options, nil, func() error { return nil }}, nil
	}
	s, err := store.Open(ctx, f.DB, create)
	if err != nil {
		return nil, fmt.Errorf("--db: %w", err)
	}
	return &source{s, s, "", options, s, s.Close}, nil
}

// limits are what the colour maps are fitted to.
func (s *source) limits() colormap.Limits {
	p := s.options.Profile
	return colormap.Limits{Title: p.Title, Level1: p.Limits[0].Float(), Level2: p.Limits[1].Float(), Above: p.Above}
}

// load reads the data once, for a command that shows one state of them and ends. Close the source then: maps of old weeks
// are read from it.
func (f *sourceFlags) load(ctx context.Context) (*source, *data.Snapshot, error) {
	s, err := f.open(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	s.options.Patience = -1 // nobody else waits
	heap := newHeap(os.LookupEnv)
	snap, err := data.Load(ctx, heapSource{s.Source, heap}, &s.options)
	heap.settle()
	if err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	return s, snap, nil
}
