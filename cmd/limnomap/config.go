package main

import (
	"bytes"
	"context"
	"fmt"

	"limnomap/cmd/limnomap/config"
)

type configCmd struct {
	Command []string `arg:"" optional:"" help:"The command and its flags, as you would run it; serve by default."`
}

func (configCmd) Help() string {
	return `Write the command as you would run it, or only flags for serve:
  limnomap config
  limnomap --config limnomap.yaml config serve --api-rate 100
The command is not run, but its settings are checked as it would check them, with files and addresses where this
changes nothing and opens no connection: exit code 1 if the command would not start. Secrets are printed as dots,
which --config does not accept as a value.`
}

// Run prints the settings of the command that follows.
func (c *configCmd) Run(ctx context.Context, con *console) error {
	if len(c.Command) > 0 && (c.Command[0] == "--help" || c.Command[0] == "-h") {
		return con.invocation.Command.PrintUsage(false)
	}
	args, err := con.invocation.ArgsFor(c.Command)
	if err != nil {
		return err
	}
	inv, err := parse(args, con.out, con.err)
	if err != nil || inv == nil {
		return err
	}
	selected := inv.Selected()
	if !config.HasFlags(selected) {
		return fmt.Errorf("limnomap %s has no flags: want a command with flags, such as serve", config.CommandName(selected))
	}
	if checker, ok := selected.Target.Addr().Interface().(config.Checker); ok {
		if err := inv.Explain(checker.Check(ctx)); err != nil {
			return err
		}
	}
	var text bytes.Buffer // so that an error prints nothing
	if err := inv.Print(&text); err != nil {
		return err
	}
	_, err = text.WriteTo(con.out)
	return err
}
