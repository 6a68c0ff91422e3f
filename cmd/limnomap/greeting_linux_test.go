package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// openTerminal returns both ends of a pseudo-terminal.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		testsize.LeaveOut(t, "there is no terminal: "+err.Error())
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	mustDo(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		testsize.LeaveOut(t, "there is no terminal: "+err.Error())
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// On a terminal the start ends with one plain line that has the address. A log elsewhere does not have it.
func TestGreeting(t *testing.T) {
	person, program := openTerminal(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { // ends with cancel
		done <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--drain", "0s", "--cache-dir", t.TempDir()}, io.Discard, program)
	}()
	shown := new(limnomaptest.Log)
	go func() { _, _ = io.Copy(shown, person) }() // ends when the terminal is closed
	limnomaptest.Within(t, patience, "serve greets", func() bool { return strings.Contains(shown.String(), "(Ctrl+C stops it)") })
	address := openAddress.FindStringSubmatch(shown.String())
	if want := "\r\nlimnomap serves the map at " + address[1] + "/ (Ctrl+C stops it)\r\n"; !strings.Contains(shown.String(), want) {
		t.Errorf("the terminal shows\n%s\nwant %q", shown, want)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, log := startServer(t); strings.Contains(log.String(), "Ctrl+C") {
		t.Errorf("a log that is no terminal has the greeting:\n%s", log)
	}
}
