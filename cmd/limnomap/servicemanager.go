package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// A serviceManager is systemd, or another that has its sd_notify protocol. It is notified through the socket in
// NOTIFY_SOCKET; without one, nothing is sent.
type serviceManager struct {
	log     *slog.Logger
	timeout time.Duration // of the manager's watchdog; 0 if it has none
}

// openServiceManager reads the environment.
func openServiceManager(log *slog.Logger) (*serviceManager, error) {
	timeout, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return nil, fmt.Errorf("WATCHDOG_USEC: %w", err)
	}
	return &serviceManager{log: log, timeout: timeout}, nil
}

// notify sends a state such as [daemon.SdNotifyReady]. An error is only logged: the manager itself decides what to do with
// a service that it does not hear of.
func (m *serviceManager) notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		m.log.Error("cannot notify the service manager", "state", state, "error", err)
	}
}

// reloading notifies the manager that a reload begins, and done that it has ended: "systemctl reload" waits for that.
func (m *serviceManager) reloading() (done func()) {
	m.notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
	return func() { m.notify(daemon.SdNotifyReady) }
}

// watchdog notifies the manager until ctx ends, twice in each timeout, that h answers the path /healthz. The manager restarts
// a server that is stuck and does not answer.
func (m *serviceManager) watchdog(ctx context.Context, h http.Handler, path string) {
	if m.timeout == 0 {
		return
	}
	ticker := time.NewTicker(m.timeout / 2)
	defer ticker.Stop()
	for {
		if status := selfCheck(ctx, h, path); status == http.StatusOK {
			m.notify(daemon.SdNotifyWatchdog)
		} else if ctx.Err() == nil {
			m.log.Error("watchdog: self health check failed", "path", path, "status", status)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// selfCheck returns the status of h's answer, or 0 without an answer.
func selfCheck(ctx context.Context, h http.Handler, path string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0
	}
	req.RemoteAddr = "127.0.0.1:0" // for the access log
	w := &statusWriter{make(http.Header), http.StatusOK}
	h.ServeHTTP(w, req)
	return w.status
}

// A statusWriter is an http.ResponseWriter that keeps only the status.
type statusWriter struct {
	header http.Header
	status int
}

func (w *statusWriter) Header() http.Header { return w.header }

func (w *statusWriter) WriteHeader(status int) { w.status = status }

func (w *statusWriter) Write(p []byte) (int, error) { return len(p), nil }
