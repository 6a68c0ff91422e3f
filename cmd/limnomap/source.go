package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api/auth"
	"limnomap/cmd/limnomap/config"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/demo"
	"limnomap/data/snapshot"
	"limnomap/data/store"
	"limnomap/tiles/background"
)

// sourceFlags select the data and how they are read. All commands that draw tiles have them, so that they draw the same
// tiles.
type sourceFlags struct {
	DB         config.Location `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, which may name several hosts. Prefer LIMNOMAP_DB for a URL with a password: command lines are visible to other users. Without a database, the embedded demo with simulated values is shown." placeholder:"FILE|URL" group:"Data"`
	Profile    string          `help:"Classification of chlorophyll-a: ${enum}." enum:"${profiles}" default:"who2003" group:"Data"`
	StaleAfter config.Period   `help:"How old the current value of a lake may be, in whole days." default:"28d" allowed:"1d.." check:"whole-days" group:"Data"`
	// SamplePrefer has no shorter unit than a day, as the dates of observations.
	SamplePrefer config.Period `help:"How much older than the newest satellite value of a lake a sample may be to be the current value instead, in whole days." default:"14d" allowed:"0d.." check:"whole-days" group:"Data"`
	Weeks        int           `help:"How many of the newest weeks are kept in memory for their maps; older weeks are read from the database. A lake takes 8 bytes per week." default:"104" allowed:"1.." group:"Data"`
	AsOf         string        `help:"The day from which ages count in place of the present one, for archives: data for that of the newest measurement, or a day, after which no measurement is shown. The page, descriptions of the map and the header X-As-Of say so." placeholder:"data|YYYY-MM-DD" check:"as-of" group:"Data"`
	OldestWeek   string        `help:"A day of the oldest week that is shown; maps of earlier weeks are refused. By default, of the first week with an observation. The newest week is always shown." placeholder:"YYYY-MM-DD" check:"date" group:"Data"`
}

// A source is where the data are from.
type source struct {
	snapshot.Source
	Keys    auth.Store
	notice  string // about simulated data, or ""
	options snapshot.Options
	store   *store.Store // nil for the demo
	close   func() error
}

// checkSource returns the errors of open that can be found without opening the database. With create, the database need not
// exist yet.
func (f *sourceFlags) checkSource(create bool) error {
	if !f.DB.IsSet() {
		return nil
	}
	if err := store.Check(f.DB.Reveal(), create); err != nil {
		return fmt.Errorf("--db: %w", err)
	}
	return nil
}

// open opens the database, or the demo. With create, a database that is not there is created; upgrade is called before one is migrated.
func (f *sourceFlags) open(ctx context.Context, create bool, upgrade store.Upgrade) (*source, error) {
	profile, err := data.ProfileByID(f.Profile)
	if err != nil {
		return nil, fmt.Errorf("--profile: %w", err)
	}
	prefer := int(time.Duration(f.SamplePrefer) / config.Day)
	options := snapshot.Options{Profile: profile, StaleAfter: int(time.Duration(f.StaleAfter) / config.Day), SamplePrefer: &prefer,
		Weeks: f.Weeks, ViewMemory: viewMemory(), Background: background.Here}
	if options.AsOf, err = snapshot.ParseAsOf(f.AsOf); err != nil {
		return nil, fmt.Errorf("--as-of: %w", err)
	}
	if f.OldestWeek != "" {
		oldest, err := data.ParseDate(f.OldestWeek)
		if err != nil {
			return nil, fmt.Errorf("--oldest-week: %w", err)
		}
		options.Oldest = &oldest
	}
	if !f.DB.IsSet() {
		d := demo.New(time.Now)
		return &source{d, d, demo.Notice, options, nil, func() error { return nil }}, nil
	}
	s, err := store.OpenUpgrading(ctx, f.DB.Reveal(), create, upgrade)
	if err != nil {
		return nil, fmt.Errorf("--db: %w", err)
	}
	return &source{s, s, "", options, s, s.Close}, nil
}

// limits are the limits of the classification, which the colour maps are fitted to.
func (s *source) limits() colormap.Limits {
	p := s.options.Profile
	return colormap.Limits{Title: p.Title, Level1: p.Limits[0].Float(), Level2: p.Limits[1].Float(), Above: p.Above, Cells: p.CellLimits, Words: p.Words}
}

// lag returns how far the standby that the data are from is behind its primary, and false if they are from none.
func (s *source) lag() (lag time.Duration, standby bool) {
	if s.store == nil {
		return 0, false
	}
	return s.store.Standby()
}

// standby returns lag, and exports it.
func (s *source) standby(registry prometheus.Registerer) func() (time.Duration, bool) {
	metrics := promauto.With(registry)
	metrics.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_database_standby",
		Help: "1 if the data are read from a standby of PostgreSQL.",
	}, func() float64 {
		if _, standby := s.lag(); standby {
			return 1
		}
		return 0
	})
	metrics.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_database_standby_lag_seconds",
		Help: "How far the standby that the data are read from is behind its primary at most; 0 if they are read from a primary.",
	}, func() float64 {
		lag, _ := s.lag()
		return lag.Seconds()
	})
	return s.lag
}

// load reads the data once, for a command that shows one state of them, as of a time, and ends. The caller closes the source at the
// end: maps of old weeks are read from it.
func (f *sourceFlags) load(ctx context.Context, at time.Time) (*source, *snapshot.Snapshot, error) {
	s, err := f.open(ctx, false, store.RefuseUpgrade)
	if err != nil {
		return nil, nil, err
	}
	s.options.Patience = -1 // no other work waits for this
	s.options.Present = func() data.Present { return data.At(at) }
	stop, closeStore := limitGarbage(ctx), s.close
	s.close = func() error { stop(); return closeStore() }
	snap, err := snapshot.Load(ctx, s.Source, &s.options)
	debug.FreeOSMemory() // garbage of the loading
	if err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	return s, snap, nil
}
