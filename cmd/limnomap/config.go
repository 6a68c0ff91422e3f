package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
)

type configCmd struct {
	Command []string `arg:"" optional:"" help:"The command and its flags, as it would be run; serve by default."`
}

func (configCmd) Help() string {
	return `Say the command as you would run it, or only its flags for serve:
  limnomap config
  limnomap --config limnomap.yaml config serve --api-rate 100
It is not run, but its settings are checked as it would check them, files and addresses among them that can be checked
without changing or asking anything: exit code 1 if it would not begin. Secrets are printed as <hidden>, which --config does
not take for a value.`
}

// An inspector is a command that can tell whether it would begin, without beginning.
type inspector interface {
	inspect(ctx context.Context) error
}

// Run prints what the command that follows would go by.
func (c *configCmd) Run(ctx context.Context, con *console) error {
	if len(c.Command) > 0 && (c.Command[0] == "--help" || c.Command[0] == "-h") {
		return con.call.command.PrintUsage(false)
	}
	about, err := con.call.about(c.Command, con)
	if err != nil || about == nil {
		return err
	}
	selected := about.command.Selected()
	if !configurable(selected) {
		return fmt.Errorf("limnomap %s has no flags: want a command that has, such as serve", sectionName(selected))
	}
	if i, ok := selected.Target.Addr().Interface().(inspector); ok {
		if err := about.settings.explain(i.inspect(ctx)); err != nil {
			return err
		}
	}
	var text bytes.Buffer // all of it or nothing
	if err := about.print(&text); err != nil {
		return err
	}
	_, err = con.out.Write(text.Bytes())
	return err
}

// about returns the call of another command: what stood before the word config in c, then that command, which is serve
// where words do not begin with one.
func (c *call) about(words []string, con *console) (*call, error) {
	before := len(c.args) - len(words) - 1
	if before < 0 || c.args[before] != "config" {
		return nil, errors.New("the command to print stands behind the word config, without --")
	}
	args := append([]string{}, c.args[:before]...)
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		args = append(args, "serve")
	}
	return parse(append(args, words...), con.out, con.err)
}

// print writes the values of all flags of c, as --config takes them.
func (c *call) print(w io.Writer) error {
	selected := c.command.Selected()
	called := sectionName(selected)
	fmt.Fprintf(w, "# What limnomap %s goes by, and where each value comes from.\n", called)
	for _, flag := range c.command.Model.Flags {
		if err := c.printFlag(w, "", flag); err != nil {
			return err
		}
	}
	indent := ""
	for _, word := range strings.Fields(called) {
		fmt.Fprintf(w, "%s%s:\n", indent, word)
		indent += "  "
	}
	for _, flag := range selected.Flags {
		if err := c.printFlag(w, indent, flag); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) printFlag(w io.Writer, indent string, flag *kong.Flag) error {
	if !inFile(flag) {
		return nil
	}
	texts, set, err := valuesOf(flag)
	if err != nil {
		return err
	}
	from := c.settings.originOf(c.command, flag)
	if !set && from == fromDefault {
		_, err = fmt.Fprintf(w, "%s# %s is not set\n", indent, flag.Name)
		return err
	}
	for i, text := range texts {
		if isSecret(flag) || !withoutUser(text) {
			texts[i] = shown(flag, text)
		}
	}
	line, err := yamlOf(flag, texts)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s: %s # %s\n", indent, flag.Name, line, from.comment())
	return err
}

// comment returns the origin as a comment can hold it: a file may have any name.
func (o origin) comment() string {
	if strings.ContainsFunc(o.text, unicode.IsControl) {
		return strconv.Quote(o.text)
	}
	return o.text
}

// quiet is the log of an inspection, which has its result as an error.
func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
