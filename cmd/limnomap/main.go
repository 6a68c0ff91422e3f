// Command limnomap serves the water quality of lakes as heat-map tiles and as data.
//
//	limnomap serve                                      the embedded demo, with simulated values
//	limnomap import lakes lakes.csv --db lakes.db       your own lakes
//	limnomap import observations obs.csv --db lakes.db  and their observations
//	limnomap serve --db lakes.db
//
// There is one file for each command. The package only connects the other packages: it knows flags, files and signals, but
// no rules of the domain. Settings are read and checked by package config.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"limnomap/cmd/limnomap/config"
)

// signalEcho is the time within which a second signal counts as the same one: timeout(1) and shells signal a process and
// then its whole group.
const signalEcho = 200 * time.Millisecond

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the process
		<-signals
		cancel()
		time.Sleep(signalEcho)
		for len(signals) > 0 {
			<-signals
		}
		<-signals
		fmt.Fprintln(os.Stderr, "limnomap: stopped at once by a second signal")
		os.Exit(1)
	}()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "limnomap:", config.Redacted(err.Error())) // run has hidden the secrets of the settings
		os.Exit(1)
	}
}

// run is main without the process: it returns when the command is done or, for serve, when ctx has ended and the requests
// in flight are answered. The text of its error has no secrets.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	inv, err := parse(args, stdout, stderr)
	if err != nil {
		warnOfSecrets(args, newLogger(stderr, "text", slog.LevelWarn, config.NewRedactor(args, nil))) // the settings of the log are not known
		return err
	}
	if inv == nil {
		return nil
	}
	level := new(slog.LevelVar)
	level.Set(inv.cli.LogLevel.Level)
	con := &console{out: stdout, err: stderr, log: newLogger(stderr, inv.cli.LogFormat, level, inv.Redactor), level: level, invocation: inv}
	warnOfSecrets(args, con.log)
	// Before the command, which may derive budgets from the limit. A short command logs nothing about it but warnings.
	done := slog.LevelDebug
	if inv.Command.Command() == "serve" {
		done = slog.LevelInfo
	}
	limitMemory(memlimit.FromCgroup, os.LookupEnv, con.log, done)
	inv.Command.BindTo(ctx, (*context.Context)(nil))
	return inv.Redactor.Error(inv.Explain(inv.Command.Run(con)))
}

func warnOfSecrets(args []string, log *slog.Logger) {
	for _, flag := range config.SecretsIn(args) {
		log.Warn("a password or token is on the command line, which is visible to other users: use the environment or a file", "flag", flag)
	}
}

// interrupted returns err or, if ctx has ended, an error that says what this means for the result.
func interrupted(ctx context.Context, err error, result string) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("interrupted: " + result)
	}
	return err
}
