package main

import (
	"log/slog"
	"strings"
	"testing"

	"limnomap/api/connections"
	"limnomap/cmd/limnomap/limnomaptest"
)

func TestConnectionBounds(t *testing.T) {
	const gib = 1 << 30
	for _, test := range []struct {
		name                          string
		flags                         connectionFlags
		machine                       machineLimits
		total, perAddress, perNetwork int
		log                           string
	}{
		{"a service with 1 GiB", connectionFlags{}, machineLimits{gib / 10 * 9, 65536}, 1843, 460, 921, ""},
		{"few open files", connectionFlags{}, machineLimits{0, 1024}, 768, 192, 384, ""},
		{"flags", connectionFlags{500, 20}, machineLimits{gib, 65536}, 500, 20, 160, ""},
		{"more than open files", connectionFlags{5000, 0}, machineLimits{gib, 1024}, 5000, 1250, 2500, "LimitNOFILE"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := test.flags.bounds(nil, test.machine)
			if b.Total != test.total || b.PerAddress != test.perAddress || b.PerNetwork != test.perNetwork {
				t.Errorf("total %d, per address %d, per network %d; want %d, %d, %d", b.Total, b.PerAddress, b.PerNetwork, test.total, test.perAddress, test.perNetwork)
			}
			var log limnomaptest.Log
			(&limiters{machine: test.machine}).log(b, slog.New(slog.NewTextHandler(&log, nil)))
			if text := log.String(); !strings.Contains(text, "connection limits") || strings.Contains(text, "level=WARN") != (test.log != "") || !strings.Contains(text, test.log) {
				t.Errorf("log = %s", text)
			}
		})
	}
	if err := (&connectionFlags{10, 20}).checkConnections(); err == nil || !strings.Contains(err.Error(), "--max-connections-per-address 20") {
		t.Errorf("more connections for an address than in total: %v", err)
	}
	if err := (&connectionFlags{0, 20}).checkConnections(); err != nil {
		t.Error(err)
	}
}

// The process has a limit of open files, and the machine has memory.
func TestLimitsOfMachine(t *testing.T) {
	limits := limitsOfMachine()
	if got := connections.DefaultTotal(limits.memory, limits.files); got < 1 || limits.memory == 0 {
		t.Errorf("%+v allow %d connections", limits, got)
	}
}
