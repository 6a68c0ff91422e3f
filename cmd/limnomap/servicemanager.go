package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// A serviceManager is systemd, or another that speaks its sd_notify protocol, told through the socket in NOTIFY_SOCKET.
// Where there is none, nothing is told.
type serviceManager struct {
	log      *slog.Logger
	watchdog time.Duration // within which it wants a sign of life; 0 if it wants none
}

// openServiceManager finds out what the environment says of a service manager.
func openServiceManager(log *slog.Logger) (*serviceManager, error) {
	watchdog, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return nil, fmt.Errorf("WATCHDOG_USEC: %w", err)
	}
	return &serviceManager{log: log, watchdog: watchdog}, nil
}

// tell sends states such as [daemon.SdNotifyReady]. A manager that cannot be told ends the service when it sees fit, so
// there is no more to do about it than to say so.
func (m *serviceManager) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		m.log.Error("the service manager was not told", "state", state, "error", err)
	}
}

// reloading tells that a configuration is being read, until the function that it returns tells that it has been: so long
// "systemctl reload" waits.
func (m *serviceManager) reloading() (done func()) {
	m.tell(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
	return func() { m.tell(daemon.SdNotifyReady) }
}

// run gives the signs of life that the manager wants, twice as often as it wants them, until ctx ends. Each is given only
// if h, which is what clients are answered by, answers /healthz at path: a server that is stuck gives none, and is started
// anew.
func (m *serviceManager) run(ctx context.Context, h http.Handler, path string) {
	if m.watchdog == 0 {
		return
	}
	ticker := time.NewTicker(m.watchdog / 2)
	defer ticker.Stop()
	for {
		if code := ask(ctx, h, path); code == http.StatusOK {
			m.tell(daemon.SdNotifyWatchdog)
		} else if ctx.Err() == nil {
			m.log.Error("no sign of life is given: the server does not answer itself", "path", path, "status", code)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// ask returns the status that h answers path with, 0 if none came of it.
func ask(ctx context.Context, h http.Handler, path string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0
	}
	req.RemoteAddr = "127.0.0.1:0" // as it stands in the access log
	answer := &statusOnly{header: make(http.Header)}
	h.ServeHTTP(answer, req)
	return answer.status
}

// A statusOnly is an http.ResponseWriter that keeps the status alone.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header { return s.header }

func (s *statusOnly) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
}

func (s *statusOnly) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return len(p), nil
}
