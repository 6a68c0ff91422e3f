package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/api"
	"limnomap/cmd/limnomap/config"
	"limnomap/data"
	"limnomap/data/clock"
	"limnomap/data/demo"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/eventlog"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
	"limnomap/data/snapshot"
)

// eventFlags are about the log of events.
type eventFlags struct {
	EventsKeep config.Period `help:"How long the events of /api/v1/events are kept." default:"730d" allowed:"1d.." group:"Events"`
	BloomShare float64       `help:"From which part of a lake with a high risk on, by the pixels of satellites, there is an event bloom_share; 0 means never." default:"0" allowed:"0..1" group:"Events"`
}

// settings describes how values are classified and aged: events between snapshots of different settings say nothing about lakes.
func (s *source) settings() string {
	o := &s.options
	return fmt.Sprintf("%s, stale after %d days, samples preferred for %d days, as of %s", o.Profile.ID, o.StaleAfter, *o.SamplePrefer,
		cmp.Or(o.AsOf.String(), "today"))
}

// newEventLog returns what writes the log of events of the database. Without a database, the log is in memory.
func (f *eventFlags) newEventLog(ctx context.Context, shown *source, now *clock.Clock, registry prometheus.Registerer, log *slog.Logger) (*eventlog.Keeper, error) {
	metrics := promauto.With(registry)
	written := metrics.NewCounterVec(prometheus.CounterOpts{
		Name: "limnomap_events_written_total",
		Help: "Events that this server wrote to the log of events, by kind.",
	}, []string{"kind"})
	for _, kind := range data.EventKinds() {
		written.WithLabelValues(kind.String())
	}
	failures := metrics.NewCounter(prometheus.CounterOpts{
		Name: "limnomap_event_log_failures_total",
		Help: "Attempts to write or read the log of events that failed.",
	})
	seconds := metrics.NewGauge(prometheus.GaugeOpts{
		Name: "limnomap_event_log_compare_seconds",
		Help: "How long the last comparison of a snapshot with the one before took, with writing its events.",
	})
	options := eventlog.Options{
		Log:      new(eventlog.Memory),
		Settings: eventlog.Settings{Snapshots: shown.settings(), BloomShare: data.TenThousandths(math.Round(f.BloomShare * 10_000))},
		Keep:     time.Duration(f.EventsKeep),
		Present:  now.Present,
		Believed: now.Believed,
		Logger:   log,
		Wrote: func(kinds map[data.EventKind]int, took time.Duration) {
			for kind, n := range kinds {
				written.WithLabelValues(kind.String()).Add(float64(n))
			}
			seconds.Set(took.Seconds())
		},
		Failed: func(error) { failures.Inc() },
	}
	if shown.store != nil {
		options.Log = shown.store
	}
	keeper := eventlog.NewKeeper(options)
	metrics.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_event_log_newest_seq",
		Help: "Number of the newest event in the log of events.",
	}, func() float64 {
		state, _ := keeper.State()
		return float64(state.Newest)
	})
	if shown.store != nil {
		return keeper, nil
	}
	// The demo begins with the events of its newest week.
	lastWeek := demo.New(func() time.Time { return time.Now().AddDate(0, 0, -7) })
	snap, err := snapshot.Load(ctx, lastWeek, &shown.options)
	if err != nil {
		return nil, fmt.Errorf("demo of last week: %w", err)
	}
	return keeper, keeper.Compare(ctx, snap)
}

// newDeliverer returns what sends webhooks, nil without a database.
func (f *hookFlags) newDeliverer(shown *source, events *eventlog.Keeper, now *clock.Clock, server *api.Server, registry prometheus.Registerer, log *slog.Logger) *delivery.Deliverer {
	if shown.store == nil {
		return nil
	}
	attempts := promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "limnomap_webhook_attempts_total",
		Help: "Requests that this server sent to webhooks, by result.",
	}, []string{"result"})
	delivered, failed := attempts.WithLabelValues("delivered"), attempts.WithLabelValues("failed")
	return delivery.New(delivery.Options{
		Store:     shown.store,
		Holder:    rand.Text(),
		AllowHTTP: f.HooksAllowHTTP,
		Allow:     f.allowed(),
		UserAgent: userAgent(),
		Present:   now.Present,
		Logger:    log,
		Newest: func() (int64, <-chan struct{}, eventfeed.Places, bool) {
			state, news := events.State()
			snap := events.Snapshot()
			return state.Newest, news, snap, snap != nil
		},
		Attempted: func(ok bool) {
			if ok {
				delivered.Inc()
			} else {
				failed.Inc()
			}
		},
		Known: func(hooks []hook.Hook) {
			state := api.Webhooks{Dead: []string{}}
			for i := range hooks {
				switch h := &hooks[i]; {
				case h.State == hook.Dead:
					state.Dead = append(state.Dead, h.ID)
				case h.State == hook.Paused:
					state.Paused++
				case h.Failures+h.Statements.Failures > 0:
					state.Failing++
				default:
					state.Healthy++
				}
			}
			server.WebhooksKnown(&state)
		},
	})
}
