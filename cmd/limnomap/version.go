package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"limnomap/render"
)

// version is set by the Makefile with -ldflags; without them, the version of the module is used.
var version string

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

type versionCmd struct{}

func (versionCmd) Run(con *console) error {
	_, err := fmt.Fprintf(con.out, "limnomap %s (renderer %s, %s %s/%s)\n",
		buildVersion(), render.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
