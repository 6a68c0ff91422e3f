package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	cgroup := func(limit uint64, err error) func() (uint64, error) {
		return func() (uint64, error) { return limit, err }
	}
	for _, test := range []struct {
		name        string
		cgroup      func() (uint64, error)
		environment string // GOMEMLIMIT
		want        int64
		log         string
		warns       bool // also a short command
	}{
		{"a tenth is left", cgroup(1000000000, nil), "", 900000000, "limit_bytes=900000000", false},
		{"GOMEMLIMIT overrides the cgroup", cgroup(1000000000, nil), "2GiB", math.MaxInt64, "GOMEMLIMIT=2GiB", false},
		{"no limit", cgroup(0, memlimit.ErrNoLimit), "", math.MaxInt64, "", false},
		{"no cgroup", cgroup(0, memlimit.ErrNoCgroup), "", math.MaxInt64, "", false},
		{"not Linux", cgroup(0, memlimit.ErrCgroupsNotSupported), "", math.MaxInt64, "", false},
		{"more than any machine has", cgroup(math.MaxUint64, nil), "", math.MaxInt64, "", false},
		{"too little", cgroup(1000000, nil), "", math.MaxInt64, "too little", true},
		{"a file that the sandbox hides", cgroup(0, fmt.Errorf("failed to read memory.max: %w", fs.ErrPermission)), "", math.MaxInt64, "", false},
		{"no file system of cgroups", cgroup(0, errors.New("cgroup v2 hierarchy found in /proc/self/cgroup but no cgroup2 mount found")), "", math.MaxInt64, "", false},
		{"unreadable", cgroup(0, errors.New("nonsense")), "", math.MaxInt64, "nonsense", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			lookupEnv := func(name string) (string, bool) {
				return test.environment, test.environment != "" && name == "GOMEMLIMIT"
			}
			for _, done := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
				debug.SetMemoryLimit(math.MaxInt64)
				var log bytes.Buffer
				limitMemory(test.cgroup, lookupEnv, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), done)
				if got := debug.SetMemoryLimit(-1); got != test.want {
					t.Errorf("the limit is %d, want %d", got, test.want)
				}
				level := "level=" + done.String()
				if test.warns {
					level = "level=WARN"
				}
				if text := log.String(); !strings.Contains(text, test.log) || (text == "") != (test.log == "") || text != "" && !strings.Contains(text, level) {
					t.Errorf("the log has %q, want %q with %s", text, test.log, level)
				}
			}
		})
	}
}
