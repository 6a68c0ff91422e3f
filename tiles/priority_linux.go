package tiles

import "golang.org/x/sys/unix"

// politeness is added to a background thread's niceness: at 10, it yields to any other thread, and still gets a tenth
// of a processor that others want whole (sched_prio_to_weight in kernel/sched/core.c). The garbage collector has to wait
// for it at times, so that the least priority would stall the whole process.
const politeness = 10

// lowerPriority makes the calling thread yield to others. On Linux, niceness is a thread's own (setpriority(2)).
func lowerPriority() {
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	const leastPriority = 19
	niceness := 20 - priority // as the system call gives it
	// Whoever forbids even that gets slower hits in a crowd, nothing worse.
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(niceness+politeness, leastPriority))
}
