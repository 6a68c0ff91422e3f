package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api"
	"limnomap/cmd/limnomap/config"
)

// catchHangups returns a channel that receives SIGHUP, which no longer ends the process. Several that arrive during one
// reload cause one more.
func catchHangups() (hangups <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// A reloader applies a changed configuration to a running server.
type reloader struct {
	server   *api.Server
	cert     *certificate // nil without TLS
	limiters *limiters
	level    *slog.LevelVar
	log      *slog.Logger
	secrets  *config.Redactor // of log

	successful, succeededAt prometheus.Gauge

	mu      sync.Mutex
	current *invocation // the settings that apply; guarded by mu, replaced whole
}

func newReloader(con *console, server *api.Server, cert *certificate, limiters *limiters, registry prometheus.Registerer) *reloader {
	r := &reloader{server: server, cert: cert, limiters: limiters, level: con.level, log: con.log, secrets: con.invocation.Redactor, current: con.invocation,
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "limnomap_config_last_reload_successful",
			Help: "1 if the configuration was valid when it was last read, at the start or at a SIGHUP, else 0.",
		}),
		succeededAt: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "limnomap_config_last_reload_success_timestamp_seconds",
			Help: "When a valid configuration was last read, in seconds since 1970.",
		}),
	}
	registry.MustRegister(r.successful, r.succeededAt)
	r.successful.Set(1)
	r.succeededAt.SetToCurrentTime()
	return r
}

// run reloads at each hangup until ctx ends.
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

// settings returns the settings that apply now.
func (r *reloader) settings() *serveCmd {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &r.current.cli.Serve
}

// logAddresses returns how much of the addresses of clients is logged now.
func (r *reloader) logAddresses() api.LogAddresses {
	return api.LogAddresses(r.settings().LogAddresses)
}

// reload reads the configuration again and applies it. After an error the previous configuration applies.
func (r *reloader) reload(ctx context.Context) {
	next, err := parse(r.current.Args(), io.Discard, io.Discard)
	var changed, kept []string
	if err == nil {
		r.secrets.Adopt(next.Redactor)
		if changed, kept, err = r.apply(ctx, next); err != nil {
			r.secrets.Adopt(r.current.Redactor) // those of the present settings must not become the oldest
		}
	}
	if err != nil {
		r.successful.Set(0)
		r.log.Error("reload failed: keeping the previous configuration", "error", err)
		return
	}
	r.successful.Set(1)
	r.succeededAt.SetToCurrentTime()
	message := "configuration reloaded"
	if next.ConfigFile() == "" {
		message = "reloaded without a configuration file: read the certificate and the files of secrets again"
	}
	r.log.Info(message, "config", next.ConfigFile(), "tls", r.cert != nil, "changed", changed)
	if len(kept) > 0 {
		r.log.Warn("some changed settings need a restart", "settings", kept)
	}
}

// apply applies the settings of next that can change in a running server. It returns the names of the flags that changed,
// and of those that differ but need a restart. An error changes nothing.
func (r *reloader) apply(ctx context.Context, next *invocation) (changed, kept []string, err error) {
	if err := next.cli.Serve.Check(ctx); err != nil {
		return nil, nil, next.Explain(err)
	}
	changed, kept = next.Keep(r.current.Invocation)
	opts, err := next.cli.Serve.adjustable(next.cli.LogLevel.Level)
	if err == nil {
		_, err = next.cli.Serve.pageOptions() // a file that cannot be read is an error before a restart too
	}
	if err != nil {
		return nil, nil, next.Explain(err)
	}
	r.server.Adjust(opts)
	r.limiters.adjust(&next.cli.Serve.connectionFlags, opts.TrustedProxies)
	r.level.Set(next.cli.LogLevel.Level)
	if r.cert != nil {
		r.cert.refresh()
	}
	r.mu.Lock()
	r.current = next
	r.mu.Unlock()
	return changed, kept, nil
}
