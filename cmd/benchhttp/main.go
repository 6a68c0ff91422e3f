// Command benchhttp measures how many cached answers per second limnomap gives, compared with a bare net/http handler and
// nginx that return the same bytes, and how long such an answer takes while many clients request tiles that must be drawn:
//
//	make bench-http
//
// It needs wrk, and leaves out nginx if it is not installed. The servers are measured in turn, so that other load on the
// machine affects all of them. Only figures of the same run can be compared.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "benchhttp:", err)
		os.Exit(1)
	}
}

// settings are the flags of the command line.
type settings struct {
	limnomap string
	serve    []string // more flags of limnomap serve
	only     []string // names of cases; none: all
	load     load
	crowd    int // clients that request tiles that must be drawn
	rounds   int
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 3 && args[0] == bareCommand {
		return serveBare(args[1], args[2])
	}
	if len(args) == 4 && args[0] == crowdCommand {
		return gather(ctx, args[1], args[2], args[3])
	}
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("wrk"); err != nil {
		return errors.New("wrk is not installed: it sends the requests (Debian: apt-get install wrk)")
	}
	folder, err := os.MkdirTemp("", "limnomap-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	ctx, stop := context.WithCancel(ctx)
	servers, wait, err := startAll(ctx, folder, s, stderr)
	defer wait() // until all processes have ended
	defer stop()
	if err != nil {
		return err
	}
	var table table
	for _, c := range cases() {
		if !s.wants(c.name) {
			continue
		}
		results, err := measure(ctx, c, servers, s)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		table.add(c, servers, results)
	}
	if err := table.print(stdout); err != nil || !s.wants(crowdCase) {
		return err
	}
	crowd := crowd{servers[0], s.crowd, s.load.duration}
	rounds, err := crowd.measure(ctx, s.rounds)
	if err != nil {
		return fmt.Errorf("%s: %w", crowdCase, err)
	}
	return printCrowd(stdout, s.crowd, rounds)
}

// wants reports whether the case of that name is to be measured.
func (s settings) wants(name string) bool { return len(s.only) == 0 || slices.Contains(s.only, name) }

func parse(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("bench-http", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.limnomap, "limnomap", "bin/limnomap", "the `program` to measure")
	serve := flags.String("serve", "", "more `flags` for limnomap serve, such as '--db lakes.db'; by default it serves its demo")
	only := flags.String("cases", "", "`names` of the cases to measure, separated by commas; by default all of "+caseNames())
	flags.IntVar(&s.rounds, "rounds", 3, "number of `rounds`")
	flags.DurationVar(&s.load.duration, "duration", 2*time.Second, "time of each measurement")
	flags.IntVar(&s.load.connections, "connections", 32, "open connections")
	flags.IntVar(&s.crowd, "clients", 500, "clients of the case "+crowdCase)
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.rounds < 1 || s.load.duration < time.Second || s.load.connections < 1 || s.crowd < 1 || flags.NArg() > 0 {
		return s, fmt.Errorf("%q: want at least one round, one second, one connection and one client, and no arguments", args)
	}
	s.serve = strings.Fields(*serve)
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	for _, name := range s.only {
		if name != crowdCase && !slices.ContainsFunc(cases(), func(c benchCase) bool { return c.name == name }) {
			return s, fmt.Errorf("-cases: there is no %q, only %s", name, caseNames())
		}
	}
	return s, nil
}

// measure measures the servers in turn, round by round. The first round is not counted.
func measure(ctx context.Context, c benchCase, servers []server, s settings) ([][]result, error) {
	results := make([][]result, len(servers))
	for round := range s.rounds + 1 {
		for i, server := range servers {
			request, err := server.request(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", server.name, err)
			}
			l := s.load
			if round == 0 {
				l.duration = time.Second
			}
			r, err := l.run(ctx, request)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", server.name, err)
			}
			if round > 0 {
				results[i] = append(results[i], r)
			}
		}
	}
	return results, nil
}
