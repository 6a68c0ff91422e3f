//go:build ignore

// Report reads the output of go test -json. It prints when each package begins and ends, with the time, and the whole output of a
// package that fails. At the end it prints the slowest tests, and it exits with 1 if a package failed.
//
//	go test -json PACKAGES | go run .ci/report.go
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// slowest is how many tests are listed at the end, of those that took a second or more.
const slowest = 10

type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
	Elapsed                                                float64 // seconds
}

func main() {
	output := make(map[string]*strings.Builder) // of each package, and of each build
	var slow []event
	var failed []string
	skips := 0
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0 && err != nil:
			finish(slow, failed, skips)
		case json.Unmarshal(line, &e) != nil:
			fmt.Printf("%s", line) // of go itself
			continue
		}
		switch {
		case e.Action == "output" || e.Action == "build-output":
			key := e.Package + e.ImportPath // one of them is empty
			if output[key] == nil {
				output[key] = new(strings.Builder)
			}
			output[key].WriteString(e.Output)
			if strings.Contains(e.Output, "SKIPPED") || strings.Contains(e.Output, "LEFT OUT") {
				say("%s", strings.TrimSpace(e.Output))
			}
		case e.Action == "start":
			say("begin %s", e.Package)
		case e.Test != "" && e.Action == "skip":
			skips++
		case e.Test != "" && e.Elapsed >= 1 && !strings.Contains(e.Test, "/"):
			slow = append(slow, e)
		case e.Test == "" && (e.Action == "pass" || e.Action == "skip"):
			say("ok    %s %.1fs", e.Package, e.Elapsed)
			delete(output, e.Package)
		case e.Test == "" && e.Action == "fail":
			say("FAIL  %s %.1fs", e.Package, e.Elapsed)
			for _, key := range []string{e.FailedBuild, e.Package} {
				if o := output[key]; o != nil {
					fmt.Print(o)
				}
			}
			failed = append(failed, e.Package)
		}
	}
}

func say(format string, args ...any) {
	fmt.Printf(time.Now().Format("15:04:05 ")+format+"\n", args...)
}

func finish(slow []event, failed []string, skips int) {
	slices.SortFunc(slow, func(a, b event) int { return int(1000 * (b.Elapsed - a.Elapsed)) })
	if len(slow) > 0 {
		fmt.Println("slowest tests:")
	}
	for _, e := range slow[:min(slowest, len(slow))] {
		fmt.Printf("  %6.1fs %s %s\n", e.Elapsed, e.Package, e.Test)
	}
	if skips > 0 {
		fmt.Printf("%d tests were left out\n", skips)
	}
	if len(failed) > 0 {
		fmt.Println("FAILED:", strings.Join(failed, " "))
		os.Exit(1)
	}
	os.Exit(0)
}
