package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"runtime/debug"
	"strings"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// headroomPercent of the memory is left for what the Go runtime does not count: the program itself and mapped files.
	headroomPercent = 10
	// minMemory is the least memory that a limit is set for. With less the garbage collector would run all the time.
	minMemory = 32 << 20
)

// limitMemory sets GOMEMLIMIT from the limit of the cgroup, unless the operator has set it: the garbage collector then
// works harder before the kernel ends the process. The Go runtime itself reads how many processors a cgroup allows.
// It logs the limit at the level done.
func limitMemory(cgroupLimit func() (uint64, error), lookupEnv func(string) (string, bool), log *slog.Logger, done slog.Level) {
	if limit, ok := lookupEnv("GOMEMLIMIT"); ok {
		log.Log(context.Background(), done, "the environment sets the memory limit", "GOMEMLIMIT", limit)
		return
	}
	allowed, err := cgroupLimit()
	switch {
	case err != nil && hidesCgroup(err):
		return
	case err != nil:
		log.Warn("cannot read the cgroup memory limit: set GOMEMLIMIT instead", "error", err)
		return
	case allowed >= math.MaxInt64: // no machine has that much
		return
	case allowed < minMemory:
		log.Warn("the cgroup allows too little memory for a limit", "allowed_bytes", allowed, "least", int64(minMemory))
		return
	}
	limit := allowed - allowed/100*headroomPercent
	debug.SetMemoryLimit(int64(limit))
	log.Log(context.Background(), done, "the cgroup sets the memory limit", "allowed_bytes", allowed, "limit_bytes", limit)
}

// hidesCgroup reports whether an error of automemlimit says that there is no limit, or no file of a cgroup that this process
// may read, as in some sandboxes. The operator cannot do anything about that.
func hidesCgroup(err error) bool {
	for _, absent := range []error{memlimit.ErrNoLimit, memlimit.ErrNoCgroup, memlimit.ErrCgroupsNotSupported, fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return strings.HasSuffix(err.Error(), " mount found") // no cgroup file system is mounted: the library has no value for this
}
