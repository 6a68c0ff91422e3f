package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api"
)

// catchHangups returns where SIGHUP arrives from now on, instead of ending the process. Of several that come while one
// is looked after, one is kept: what they ask for is the same.
func catchHangups() (hangups <-chan os.Signal, ignore func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// A reloader has a running server go by a configuration that has changed.
type reloader struct {
	server *api.Server
	cert   *certificate // nil without TLS
	level  *slog.LevelVar
	log    *slog.Logger

	successful, at prometheus.Gauge

	mu   sync.Mutex
	call *call // what the server goes by; guarded by mu, replaced whole
}

func newReloader(con *console, server *api.Server, cert *certificate, registry prometheus.Registerer) *reloader {
	r := &reloader{server: server, cert: cert, level: con.level, log: con.log, call: con.call,
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "limnomap_config_last_reload_successful",
			Help: "1 if the configuration was right when it was last read, at the start or at a SIGHUP, else 0.",
		}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "limnomap_config_last_reload_success_timestamp_seconds",
			Help: "When the configuration was last read and taken over, in seconds since 1970.",
		}),
	}
	registry.MustRegister(r.successful, r.at)
	r.successful.Set(1)
	r.at.SetToCurrentTime()
	return r
}

// run reloads at each hangup until ctx ends, and lets the manager know.
func (r *reloader) run(ctx context.Context, hangups <-chan os.Signal, manager *serviceManager) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			done := manager.reloading()
			r.reload(ctx)
			done()
		}
	}
}

// serving returns what the server goes by now.
func (r *reloader) serving() *serveCmd {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &r.call.cli.Serve
}

// reload reads the configuration anew and has the server go by it, or by the one before if anything is wrong with it.
func (r *reloader) reload(ctx context.Context) {
	next, err := r.call.again()
	var changed, restart []string
	if err == nil {
		changed, restart, err = r.apply(ctx, next)
	}
	if err != nil {
		r.successful.Set(0)
		r.log.Error("the new configuration is wrong, the one before stays", "error", err)
		return
	}
	r.successful.Set(1)
	r.at.SetToCurrentTime()
	message := "configuration reloaded"
	if next.cli.ConfigFile == "" {
		message = "reloaded without a configuration file: the certificate and the files of secrets were read anew"
	}
	r.log.Info(message, "config", next.cli.ConfigFile, "tls", r.cert != nil, "changed", changed)
	if len(restart) > 0 {
		r.log.Warn("settings have changed that need a restart", "settings", restart)
	}
}

// apply has the server go by next in all that can change while it runs, and returns the names of the flags that changed
// so, and of those that cannot. An error changes nothing.
func (r *reloader) apply(ctx context.Context, next *call) (changed, restart []string, err error) {
	if err := next.cli.Serve.inspect(ctx); err != nil {
		return nil, nil, next.settings.explain(err)
	}
	changed, restart, err = next.keep(r.call)
	if err != nil {
		return nil, nil, err
	}
	// Once more: what stays and what changes must go together.
	opts, err := next.cli.Serve.check()
	if err != nil {
		return nil, nil, next.settings.explain(fmt.Errorf("together with what needs a restart: %w", err))
	}
	if err := r.server.Adjust(opts.Adjustable); err != nil {
		return nil, nil, err
	}
	r.level.Set(next.cli.LogLevel.Level)
	if r.cert != nil {
		r.cert.refresh()
	}
	r.mu.Lock()
	r.call = next
	r.mu.Unlock()
	return changed, restart, nil
}

// keep gives c the values of before in all that cannot change while a server runs, and returns the names of the flags that
// are other ones in c: those that change, and those that were kept.
func (c *call) keep(before *call) (changed, kept []string, err error) {
	old := make(map[string]*kong.Flag)
	for _, flag := range before.command.Flags() {
		old[flag.Name] = flag
	}
	for _, flag := range c.command.Flags() {
		if !inFile(flag) {
			continue
		}
		same, err := sameValue(old[flag.Name], flag)
		switch {
		case err != nil:
			return nil, nil, err
		case same:
		case flag.Tag.Has("reload"):
			changed = append(changed, flag.Name)
		default:
			kept = append(kept, flag.Name)
			flag.Target.Set(old[flag.Name].Target)
		}
	}
	return changed, kept, nil
}

func sameValue(a, b *kong.Flag) (bool, error) {
	before, wasSet, err := valuesOf(a)
	if err != nil {
		return false, err
	}
	after, isSet, err := valuesOf(b)
	return wasSet == isSet && slices.Equal(before, after), err
}
