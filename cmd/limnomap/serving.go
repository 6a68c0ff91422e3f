package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sync/errgroup"

	"limnomap/api"
	"limnomap/api/connections"
	"limnomap/api/joinwrites"
	"limnomap/colormap"
	"limnomap/data/clock"
	"limnomap/data/events/eventlog"
	"limnomap/data/events/hook/delivery"
	"limnomap/data/events/push/notify"
	"limnomap/data/ingest/refresh"
	"limnomap/data/snapshot"
	"limnomap/data/store"
	"limnomap/render/legend"
	"limnomap/tiles"
)

// serving has the parts of a server that run until the server stops.
type serving struct {
	flags     *serveCmd
	notice    string // about simulated data, or ""
	log       *slog.Logger
	server    *api.Server
	clock     *clock.Clock
	watcher   *snapshot.Watcher
	published <-chan struct{} // has a value if the watcher has published a snapshot
	compare   chan struct{}   // has a value if the map is to be compared with samples again
	events    *eventlog.Keeper
	webhooks  *delivery.Deliverer // nil for the demo
	notifier  *notify.Sender      // nil without --push-key
	refresher *refresh.Refresher  // nil without --refresh-from
	cert      *certificate        // nil without TLS
	limiters  *limiters
	reloader  *reloader
	hangups   <-chan os.Signal

	terminal io.Writer // of a person who reads the log; nil if it goes elsewhere
	greeting string    // is written there once
}

// greet tells a person at a terminal where the page is, below the lines about the start.
func (s *serving) greet() {
	if s.terminal != nil && s.greeting != "" {
		fmt.Fprint(s.terminal, s.greeting)
	}
	s.greeting = ""
}

// run listens until ctx ends, then answers the requests in flight and returns.
func (s *serving) run(ctx context.Context) error {
	drain := new(drain)
	main := newHTTPServer(drain.handler(s.server), s.log, s.reloader.logAddresses)
	main.ConnContext, main.ConnState = joinwrites.ConnContext, connections.ConnState
	if s.cert != nil {
		main.TLSConfig = s.cert.config()
	}
	listener, err := listen(s.flags.Listen)
	if err != nil {
		return listenError("--listen", s.flags.Listen, err)
	}
	listener = joinwrites.Listener(s.limiters.main.Listener(listener))
	defer listener.Close() // if run returns before Serve takes it over
	listeners := map[*http.Server]net.Listener{main: listener}
	if s.flags.AdminListen != "" {
		admin := newHTTPServer(s.server.AdminHandler(), s.log, s.reloader.logAddresses)
		admin.WriteTimeout = 0 // a CPU profile takes as long as requested
		admin.ConnState = connections.ConnState
		adminListener, err := listen(s.flags.AdminListen)
		if err != nil {
			return listenError("--admin-listen", s.flags.AdminListen, err)
		}
		adminListener = s.limiters.admin.Listener(adminListener)
		defer adminListener.Close()
		listeners[admin] = adminListener
		s.log.Info("metrics and pprof", "url", addressOf(admin, adminListener)+"/metrics")
	}
	manager, err := openServiceManager(s.log)
	if err != nil {
		return err
	}
	address := addressOf(main, listener) + s.flags.BasePath + "/"
	if s.notice != "" {
		s.log.Warn("serving the embedded demo: "+s.notice, "open", address)
	} else {
		s.log.Info("serving", "db", store.Name(s.flags.DB.Reveal()), "open", address)
	}
	s.greeting = "\nlimnomap serves the map at " + address + " (Ctrl+C stops it)\n"
	// Ready means that connections are accepted. Whether there are data yet is shown by /readyz: a database may be away for
	// longer than a service manager waits.
	manager.notify(daemon.SdNotifyReady)

	// Each function returns when ctx ends, or for servers when drain.end has closed their listeners.
	group, ctx := errgroup.WithContext(ctx)
	run := func(f func(context.Context)) {
		group.Go(func() error {
			f(ctx)
			return nil
		})
	}
	for server, l := range listeners {
		group.Go(func() error { return serveOn(server, &warningListener{Listener: l, log: s.log}) })
	}
	if s.cert != nil {
		run(s.cert.watch)
	}
	if s.refresher != nil {
		run(func(ctx context.Context) { s.refresher.Run(ctx, s.flags.Refresh.Every) })
	}
	run(s.clock.Run)
	run(s.watcher.Run)
	run(s.finishLists)
	run(s.server.DrawAhead)
	run(s.updateAccuracy)
	run(s.events.Run)
	if s.webhooks != nil {
		run(s.webhooks.Run)
	}
	if s.notifier != nil {
		run(s.notifier.Run)
	}
	run(s.server.StoreKeyUses)
	run(func(ctx context.Context) { manager.watchdog(ctx, main.Handler, s.flags.BasePath+"/healthz") })
	group.Go(func() error {
		s.reloader.run(ctx, s.hangups, manager)
		drain.begin() // before /readyz says so
		s.server.Drain()
		manager.notify(daemon.SdNotifyStopping)
		now := s.reloader.settings()
		s.log.Info("stopping: /readyz answers 503", "drain_ms", now.Drain.Milliseconds())
		return drain.end(listeners, now.Drain, now.Shutdown)
	})
	err = group.Wait()
	s.log.Info("stopped")
	return err
}

// listPause is from the end of a preparation of lists to the next. A client that does not read keeps those that it is sent for a minute: so it bounds
// how many are in memory while official statements change every second.
const listPause = 5 * time.Second

// finishLists prepares the lists of published snapshots that lack some, beside the watcher: a closure must not wait for them. It returns when ctx ends.
func (s *serving) finishLists(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.published:
			s.greet()
			select {
			case s.compare <- struct{}{}:
			default:
			}
			if s.server.FinishLists() {
				select {
				case <-ctx.Done():
				case <-time.After(listPause):
				}
			}
		}
	}
}

// updateAccuracy compares the map of each published snapshot with samples and official statements. It returns when ctx ends.
func (s *serving) updateAccuracy(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.compare:
			if err := s.server.UpdateAccuracy(ctx); err != nil && ctx.Err() == nil {
				s.log.Warn("accuracy: keeping the previous comparison of the map with samples", "error", err)
			}
		}
	}
}

// watchNotifications wakes the watcher when the database notifies of an import, until the returned function is called.
func watchNotifications(ctx context.Context, s *store.Store, watcher *snapshot.Watcher) (stop func()) {
	if s == nil { // the demo does not change
		return func() {}
	}
	wake := make(chan struct{}, 1)
	watcher.Wake = wake
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { s.Listen(ctx, wake) })
	return func() {
		cancel()
		group.Wait()
	}
}

// legends draws the legends for api, which does not import render.
type legends struct{}

func (legends) LegendPNG(m *colormap.Map, look tiles.Look, language string, width, scale int) ([]byte, error) {
	w, err := legend.In(language)
	if err != nil {
		return nil, err
	}
	return w.PNG(m, look, width, scale)
}

func (legends) LegendSVG(m *colormap.Map, look tiles.Look, language string, width int) ([]byte, error) {
	w, err := legend.In(language)
	if err != nil {
		return nil, err
	}
	return w.SVG(m, look, width)
}

func (legends) Legend(m *colormap.Map, signs []tiles.Sign, language string) (any, error) {
	w, err := legend.In(language)
	if err != nil {
		return nil, err
	}
	if m.ID == colormap.Forecast {
		return w.ForecastLegend(m), nil
	}
	return tiles.Legend{Legend: w.Legend(m), Signs: w.SignsOf(signs)}, nil
}
