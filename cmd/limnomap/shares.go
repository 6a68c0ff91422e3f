package main

import (
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"limnomap/tiles/admission"
)

const (
	// answerShare of the memory limit is for answers made for one request each, requestShare for requests in flight, and
	// viewShare for the maps of weeks that are kept.
	answerShare, requestShare, viewShare = 8, 16, 16
	// usualAnswerMemory and usualRequests are the bounds without a memory limit.
	usualAnswerMemory, usualRequests = 256 << 20, 16 << 10
	// requestCost is what a request in flight takes: its goroutine, its header and the buffers of an HTTP/2 stream.
	requestCost = 24 << 10
	// leastRequests is what a server with hardly any memory may answer at once: a few map views.
	leastRequests = 512
)

// memoryLimit returns how much memory the Go runtime may use, and whether that is limited.
func memoryLimit() (limit int64, limited bool) {
	limit = debug.SetMemoryLimit(-1)
	return limit, limit < math.MaxInt64
}

// machineLimits are what a process may use; 0 is unknown.
type machineLimits struct {
	memory uint64 // bytes
	files  uint64 // that are open at the same time
}

// limitsOfMachine returns the memory limit of the Go runtime, or the memory of the machine if there is none, and the limit of
// open files.
func limitsOfMachine() machineLimits {
	limits := machineLimits{files: maxOpenFiles()}
	if limit, limited := memoryLimit(); limited {
		limits.memory = uint64(limit)
	} else if memory, err := memlimit.FromSystem(); err == nil {
		limits.memory = memory
	}
	return limits
}

// answerMemory returns the budget of the answers that are made for one request each, in bytes.
func answerMemory() int64 {
	if limit, limited := memoryLimit(); limited {
		return limit / answerShare
	}
	return usualAnswerMemory
}

// newAnswerBudget returns the budget of those answers. A part is for clients that hold no more than a short list, so that it is answered
// while hundreds of others have long ones sent.
func newAnswerBudget(n int64) *admission.Budget {
	const reserveShare, shortList = 4, 64 << 10
	return admission.NewBudgetWithReserve(n, n/reserveShare, shortList)
}

// viewMemory returns the memory for the maps of weeks that are kept, in bytes; 0 is the default of package data.
func viewMemory() int64 {
	if limit, limited := memoryLimit(); limited {
		return limit / viewShare
	}
	return 0
}

// requestsInFlight returns how many requests may be answered at once.
func requestsInFlight() int {
	if limit, limited := memoryLimit(); limited {
		return int(min(max(limit/requestShare/requestCost, leastRequests), usualRequests))
	}
	return usualRequests
}
