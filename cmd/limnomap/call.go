package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// versionCommand is run whatever file the environment names, and whatever unknown variables it has: whoever looks for a
// fault may want to know the version first.
const versionCommand = "version"

// A call is limnomap as it was called: the command with what the command line, the environment and a file say.
type call struct {
	args     []string
	cli      *cli
	command  *kong.Context
	settings *settings
}

// parse reads the command line, the environment and the file that these name. It returns nil where --help was asked for,
// and has said it then.
func parse(args []string, stdout, stderr io.Writer) (*call, error) {
	c := &call{args: args, cli: new(cli), settings: newSettings()}
	done := false // --help has said all there is to say
	parser, err := kong.New(c.cli,
		kong.Name("limnomap"),
		kong.Description(description),
		kong.DefaultEnvars("LIMNOMAP"),
		kong.Vars{"profiles": profileIDs()}, demoVars(), tileVars(),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { done = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.WithBeforeResolve(c.settings.open),
		kong.Resolvers(c.settings),
	)
	if err != nil {
		return nil, err
	}
	c.command, err = parser.Parse(args)
	if done {
		return nil, nil
	}
	if err == nil && c.command.Command() == versionCommand {
		return c, nil
	}
	explained := c.settings.explain(err)
	if err != nil && explained == err && !errors.As(err, new(fileError)) {
		explained = fmt.Errorf("%w (limnomap --help lists the commands)", err)
	}
	// Both: a variable with a wrong name may be why a flag is missing.
	if err := errors.Join(unknownVariables(os.Environ(), parser.Model), explained); err != nil {
		return nil, err
	}
	if err := errors.Join(c.settings.checkDatabase(c.command), checkHidden(c.command)); err != nil {
		return nil, c.settings.explain(err)
	}
	return c, nil
}

// again reads what c was called by once more: the file, and those that the environment names, may have changed.
func (c *call) again() (*call, error) {
	return parse(c.args, io.Discard, io.Discard)
}
