package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/data/clock"
)

// newClock returns the clock of a server, which has asked the database once. The snapshots of shown are made by it.
func newClock(ctx context.Context, shown *source, registry prometheus.Registerer, log *slog.Logger) *clock.Clock {
	var ask func(context.Context) (clock.Times, error)
	var believe func(context.Context, time.Time) (time.Time, error)
	if shown.store != nil {
		ask, believe = shown.store.Times, shown.store.Believe
	}
	c := clock.New(ask, believe, log)
	c.Ask(ctx)
	shown.options.Present = c.Present
	metrics := promauto.With(registry)
	metrics.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_clock_ahead_seconds",
		Help: "By how much the clock of the machine is ahead of the time that the server goes by; negative if it is behind.",
	}, func() float64 { return c.Ahead().Seconds() })
	metrics.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_clock_doubtful",
		Help: "1 if the clock is in doubt, or is not that of the database; /readyz says why as clock_doubt.",
	}, func() float64 {
		if c.Doubt() == "" {
			return 0
		}
		return 1
	})
	return c
}
