// Command limnomap serves the water quality of lakes as heat-map tiles and as data.
//
//	limnomap serve                                      the embedded demo, with simulated values
//	limnomap import lakes lakes.csv --db lakes.db       your own lakes
//	limnomap import observations obs.csv --db lakes.db  and what was measured of them
//	limnomap serve --db lakes.db
//
// This package only wires the others together: it knows flags, files and signals, and none of the domain's rules.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalEcho is how long a repeated signal counts as the same one: timeout(1) and shells signal a process, and then its
// whole group.
const signalEcho = 200 * time.Millisecond

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the process
		<-signals // asks for an orderly end
		cancel()
		time.Sleep(signalEcho)
		for len(signals) > 0 {
			<-signals
		}
		<-signals // has no patience left
		fmt.Fprintln(os.Stderr, "limnomap: ended at once by a second signal")
		os.Exit(1)
	}()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "limnomap:", withoutSecrets(err.Error()))
		os.Exit(1)
	}
}

// run is main without the process: it returns when the command is done or, for serve, when ctx has ended and the
// requests in flight are answered.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stdout, stderr)
	if err != nil || c == nil {
		return err
	}
	level := new(slog.LevelVar)
	level.Set(c.cli.LogLevel.Level)
	con := &console{out: stdout, err: stderr, log: newLogger(stderr, c.cli.LogFormat, level), level: level, call: c}
	for _, flag := range secretFlags(args) {
		con.log.Warn("a password or token stands in the command line, where every user of this machine can read it: say it by the environment or a file", "flag", flag)
	}
	c.command.BindTo(ctx, (*context.Context)(nil))
	return c.settings.explain(c.command.Run(con))
}
