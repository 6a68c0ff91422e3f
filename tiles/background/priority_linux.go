package background

import "golang.org/x/sys/unix"

// nicer is added to the niceness of a thread. At 10 it yields to any other thread, and still gets a tenth of a processor
// that others want completely (sched_prio_to_weight in kernel/sched/core.c). The garbage collector sometimes has to wait for
// such a thread, so the lowest priority would stall the whole process.
const nicer = 10

// lowerPriority makes the calling thread yield to others. On Linux, each thread has its own niceness (setpriority(2)).
func lowerPriority() {
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return
	}
	const nicest = 19
	niceness := 20 - priority // the system call returns it like this
	// A system may forbid even that: then hits are slower while many tiles are drawn, and nothing worse.
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(niceness+nicer, nicest))
}
