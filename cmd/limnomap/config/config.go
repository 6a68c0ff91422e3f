// Package config reads and checks the settings of a command. Each setting is a flag; the first of these places that has
// it decides: the command line, the environment, a YAML file, the default.
//
// A flag is a field of a struct that kong reads. The tags of the field are the table of everything that is known about
// the setting:
//
//	help:"…" default:"…"  for --help and docs/configuration.md
//	enum:"a,b"            the values that are allowed
//	allowed:"0..20"       the lowest and the highest value that are allowed; one of them may be missing
//	check:"origin"        the rule, one of [Options].Rules, that each value must keep
//	key:"refresh"         another key of the setting in the file
//	list:""               one text on the command line that may be a list in the file
//	reload:""             changes while the server runs, at SIGHUP
//
// A flag of the type [Secret] or [Location] prints as dots, and the variable NAME_FILE may name a file that holds its value.
//
// [Parse] checks each value by these tags and by its type (UnmarshalText). Rules for several settings together are in
// the Check method of the command: see [Checker].
package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const (
	program   = "limnomap"
	envPrefix = "LIMNOMAP_"
	// versionCommand runs with any configuration file and any unknown variable: it helps to find what is wrong with them.
	versionCommand = "version"
)

// Options are what [Parse] needs to know about the program.
type Options struct {
	Description string                        // for --help
	Vars        kong.Vars                     // values of ${name} in tags
	Rules       map[string]func(string) error // by the name that a tag check has
	Renamed     map[string]string             // what to use in place of a flag (--name) or a command that was removed
	Stdout      io.Writer                     // for --help
	Stderr      io.Writer
}

// A Checker is a command that can check its settings without opening a database or a connection. Check may fill in a
// default that depends on another setting.
type Checker interface {
	Check(ctx context.Context) error
}

// An Invocation is one command with the values of all its flags.
type Invocation struct {
	Command  *kong.Context
	Redactor *Redactor // knows the secrets of the settings

	args     []string
	resolver *resolver
}

// Parse reads the command line into grammar, a pointer to a struct for kong, together with the environment and the
// files that these name. It returns nil if the help was asked for, or nothing at all; the help is printed then. Errors have no secrets.
func Parse(grammar any, args []string, opts *Options) (_ *Invocation, err error) {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && (args[0] == "-v" || args[0] == "--version"):
		args = []string{versionCommand}
	}
	inv := &Invocation{args: args, Redactor: NewRedactor(args, os.Environ())}
	inv.resolver = newResolver()
	inv.resolver.renamed = opts.Renamed
	defer func() { err = inv.Redactor.Error(err) }()
	helpPrinted := false
	parser, err := kong.New(grammar,
		kong.Name(program),
		kong.Description(opts.Description),
		kong.DefaultEnvars(program),
		opts.Vars,
		kong.Writers(opts.Stdout, opts.Stderr),
		kong.Exit(func(int) { helpPrinted = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.WithBeforeResolve(inv.resolver.openFile),
		kong.Resolvers(inv.resolver),
	)
	if err != nil {
		return nil, err
	}
	inv.Command, err = parser.Parse(args)
	if helpPrinted {
		return nil, nil
	}
	if err == nil && inv.Command.Command() == versionCommand {
		return inv, nil
	}
	if err == nil {
		inv.learnSecrets()
	}
	explained := inv.Explain(err)
	if explained == err {
		explained = inv.hint(err, parser.Model.Node, opts.Renamed)
	}
	// Both errors: a misspelled variable may be the reason why a flag is missing.
	if err := errors.Join(unknownVariables(os.Environ(), parser.Model, opts.Renamed), explained); err != nil {
		return nil, err
	}
	return inv, inv.Explain(inv.check(opts))
}

var (
	unknownFlag = regexp.MustCompile(`^unknown flag (--[a-z][a-z0-9-]*)`)
	// fileProblem matches errors of kong about a file that is an argument or the value of a flag: it says "<file> ...: stat a.csv: no such
	// file or directory".
	fileProblem    = regexp.MustCompile(`^(?:<[^>]*>(?: \.\.\.)?: )?(--[a-z-]+: )?(?:stat )?(\S.*: no such file or directory|\S.*: permission denied|".*" exists but is a directory)$`)
	unexpectedWord = regexp.MustCompile(`^unexpected argument ([a-z]+)`)
)

// hint adds to an error of the command line what to use in place of a flag or a command that was removed, or the nearest flag, and where
// the help is.
func (inv *Invocation) hint(err error, selected *kong.Node, renamed map[string]string) error {
	if err == nil || errors.As(err, new(fileError)) {
		return err
	}
	if m := fileProblem.FindStringSubmatch(err.Error()); m != nil {
		return errors.New(m[1] + m[2])
	}
	if parse := (*kong.ParseError)(nil); errors.As(err, &parse) && parse.Context.Selected() != nil {
		selected = parse.Context.Selected()
	}
	command := CommandName(selected)
	suggestion := ""
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		if now := cmp.Or(renamed[m[1]], renamed[command+" "+m[1]]); now != "" {
			return fmt.Errorf("there is no flag %s any more: %s", m[1], now)
		}
		var names []string
		for name := range flagsByName(selected) {
			names = append(names, name)
		}
		if near := nearest(m[1][2:], names); near != "" && !strings.Contains(err.Error(), "did you mean") {
			suggestion = ", did you mean --" + near + "?"
		}
	}
	if m := unexpectedWord.FindStringSubmatch(err.Error()); m != nil {
		if name := strings.TrimSpace(command + " " + m[1]); renamed[name] != "" {
			return fmt.Errorf("there is no command limnomap %s any more: %s", name, renamed[name])
		}
	}
	if command == "" {
		return fmt.Errorf("%w%s (limnomap --help lists the commands)", err, suggestion)
	}
	return fmt.Errorf("%w%s (see limnomap help %s)", err, suggestion, command)
}

// learnSecrets makes the Redactor know the secrets among the settings.
func (inv *Invocation) learnSecrets() {
	for _, flag := range inv.Command.Flags() {
		texts, _, err := textsOf(flag)
		if err != nil || !IsSecret(flag) {
			continue
		}
		for _, text := range texts {
			inv.Redactor.add(secretsIn(text)...)
			if elemType(flag) == reflect.TypeFor[Secret]() {
				inv.Redactor.add(text)
			}
		}
	}
}

// Selected returns the command that was chosen.
func (inv *Invocation) Selected() *kong.Node { return inv.Command.Selected() }

// CommandLine returns the command line without secrets. Its words are separated by NUL, as in /proc.
func (inv *Invocation) CommandLine() string {
	words := []string{program}
	for _, arg := range inv.args {
		words = append(words, inv.Redactor.Redact(arg))
	}
	return strings.Join(words, "\x00")
}

// ConfigFile returns the name of the configuration file, or "" if there is none.
func (inv *Invocation) ConfigFile() string {
	if inv.resolver.file == nil {
		return ""
	}
	return inv.resolver.file.name
}

// Explain adds to an error where the flags that it names got their values.
func (inv *Invocation) Explain(err error) error { return inv.resolver.explain(err) }

// ArgsFor returns the command line of the command that limnomap config describes: the words before "config", then
// words, which begin with the command's name or, for serve, with a flag.
func (inv *Invocation) ArgsFor(words []string) ([]string, error) {
	before := len(inv.args) - len(words) - 1
	if before < 0 || inv.args[before] != "config" {
		return nil, errors.New("write the command after the word config, without -- between them")
	}
	args := append([]string{}, inv.args[:before]...)
	if len(words) == 0 || words[0] == "" || words[0][0] == '-' {
		args = append(args, "serve")
	}
	return append(args, words...), nil
}
