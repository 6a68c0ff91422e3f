package background

import (
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDoLowersThePriorityOfItsThreadsOnly(t *testing.T) {
	niceness := func() int {
		priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		return 20 - priority
	}
	usual := niceness()
	threads := New(2)
	defer threads.Close()
	var during int
	threads.Do(func() { during = niceness() })
	if want := min(usual+nicer, 19); during != want {
		t.Errorf("niceness in Do is %d, want %d", during, want)
	}
	if got := niceness(); got != usual {
		t.Errorf("niceness after Do is %d, want %d as before", got, usual)
	}
}
