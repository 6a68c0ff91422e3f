//go:build unix

package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// The watchdog is notified only while the self health check succeeds; a failure is logged.
func TestWatchdog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	mustDo(t, err)
	defer conn.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", "")
	log := new(limnomaptest.Log)
	manager, err := openServiceManager(slog.New(slog.NewTextHandler(log, nil)))
	mustDo(t, err)

	const stuck = 3
	var checks atomic.Int32
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/lakes/healthz" {
			t.Errorf("the self health check requests %s", r.URL.Path)
		}
		if checks.Add(1) <= stuck {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte("ok"))
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { // ends with cancel
		defer close(done)
		manager.watchdog(ctx, h, "/lakes/healthz")
	}()
	buf := make([]byte, 100)
	n, err := conn.Read(buf)
	mustDo(t, err)
	if string(buf[:n]) != "WATCHDOG=1" || checks.Load() <= stuck {
		t.Errorf("%q was sent after %d health checks, of which the first %d failed", buf[:n], checks.Load(), stuck)
	}
	cancel()
	<-done
	if got := strings.Count(log.String(), "self health check failed"); got != stuck {
		t.Errorf("%d lines of log, want %d:\n%s", got, stuck, log)
	}
}

func TestServiceManagerAbsent(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	t.Setenv("WATCHDOG_USEC", "")
	var log bytes.Buffer
	manager, err := openServiceManager(slog.New(slog.NewTextHandler(&log, nil)))
	mustDo(t, err)
	manager.notify("READY=1")
	manager.watchdog(t.Context(), http.NotFoundHandler(), "/healthz") // returns
	if log.Len() > 0 {
		t.Errorf("without a manager the log has:\n%s", &log)
	}
	t.Setenv("WATCHDOG_USEC", "soon")
	if _, err := openServiceManager(nil); err == nil || !strings.Contains(err.Error(), "WATCHDOG_USEC") {
		t.Errorf("WATCHDOG_USEC=soon: %v", err)
	}
}
