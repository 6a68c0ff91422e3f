package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

const (
	// fileSuffix makes the variable of a secret the name of a file that holds it. Docker's and Kubernetes' secrets and
	// systemd's credentials are files.
	fileSuffix = "_FILE"
	// maxSecret bounds such a file, which holds a URL or a few.
	maxSecret = 64 << 10
)

// A resolver gives kong the values of the flags that are not on the command line: from the environment, then from the
// file.
type resolver struct {
	lookupEnv func(string) (string, bool)
	file      *file // nil without --config
	opened    bool  // openFile was called
	origins   map[*kong.Flag]string
	renamed   map[string]string // for errors of the file
}

// Origins of values that have neither a variable nor a line in a file.
const (
	fromCommandLine = "command line"
	fromDefault     = "default"
)

func newResolver() *resolver {
	return &resolver{lookupEnv: os.LookupEnv, origins: make(map[*kong.Flag]string)}
}

// A fileError is an error in a configuration file. It needs no hint at --help.
type fileError struct{ error }

// openFile reads the file that --config or LIMNOMAP_CONFIG names, if there is one. Kong calls it several times.
func (r *resolver) openFile(ctx *kong.Context) error {
	if r.opened || ctx.Command() == versionCommand {
		return nil
	}
	r.opened = true
	i := slices.IndexFunc(ctx.Model.Flags, func(f *kong.Flag) bool { return f.Name == "config" })
	if i < 0 {
		return nil
	}
	flag := ctx.Model.Flags[i]
	name, _ := ctx.FlagValue(flag).(string)
	if name == "" {
		if r.isGiven(ctx, flag) {
			return errors.New("--config is empty: name a YAML file, or remove --config and LIMNOMAP_CONFIG")
		}
		return nil
	}
	f, err := readFile(name, ctx.Model, r.renamed)
	if err != nil {
		return fileError{err}
	}
	r.file = f
	return nil
}

// Validate implements kong.Resolver.
func (r *resolver) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver. It returns nil for a flag that is neither in the environment nor in the file.
func (r *resolver) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		value, variable, ok, err := r.fromEnv(flag, name)
		if err != nil {
			return nil, err
		}
		if ok {
			r.origins[flag] = variable
			return value, nil
		}
	}
	if v, ok := r.file.lookup(ctx.Selected(), flag); ok && isSetting(flag) {
		r.origins[flag] = r.file.name + ":" + strconv.Itoa(v.line)
		return v.value, nil
	}
	return nil, nil
}

// fromEnv returns the value of the variable with that name, or for a secret the text of the file that name_FILE names. The
// variable is the one of the two that is set.
func (r *resolver) fromEnv(flag *kong.Flag, name string) (value, variable string, ok bool, err error) {
	value, ok = r.lookupEnv(name)
	if !IsSecret(flag) {
		return value, name, ok, nil
	}
	file, fileOK := r.lookupEnv(name + fileSuffix)
	switch {
	case !fileOK:
		return value, name, ok, nil
	case file == "":
		return "", "", false, fmt.Errorf("%s%s is empty: name a file, or remove the variable", name, fileSuffix)
	case ok:
		return "", "", false, fmt.Errorf("%s and %s%s are both set: set one of them", name, name, fileSuffix)
	}
	text, err := ReadFile(file, maxSecret)
	if err != nil {
		return "", "", false, fmt.Errorf("%s%s: %w", name, fileSuffix, err)
	}
	if value = strings.TrimRight(string(text), "\r\n"); strings.ContainsAny(value, "\r\n\x00") || value == "" {
		return "", "", false, fmt.Errorf("%s%s: %s is empty or has several lines: want one line", name, fileSuffix, file)
	}
	return value, name + fileSuffix, true, nil
}

// originOf returns the place that the value of a flag is from: fromCommandLine, a variable, a line of a file, or fromDefault.
func (r *resolver) originOf(ctx *kong.Context, flag *kong.Flag) string {
	if origin, ok := r.origins[flag]; ok {
		return origin
	}
	for _, p := range ctx.Path {
		if p.Flag == flag && !p.Resolved {
			return fromCommandLine
		}
	}
	return fromDefault
}

// isGiven reports whether a flag is on the command line or in the environment, even with an empty value.
func (r *resolver) isGiven(ctx *kong.Context, flag *kong.Flag) bool {
	for _, name := range flag.Envs {
		if _, ok := r.lookupEnv(name); ok {
			return true
		}
	}
	return r.originOf(ctx, flag) == fromCommandLine
}

var flagInText = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

// explain adds to an error where the flags that it names got their values, except from the command line, which the reader
// of the error has just typed.
func (r *resolver) explain(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	named := flagInText.FindAllString(text, -1)
	var origins []string
	for flag, origin := range r.origins {
		if name := "--" + flag.Name; slices.Contains(named, name) && !strings.Contains(text, origin) {
			origins = append(origins, name+" is from "+origin)
		}
	}
	if len(origins) == 0 {
		return err
	}
	slices.Sort(origins)
	return fmt.Errorf("%w (%s)", err, strings.Join(slices.Compact(origins), ", "))
}

var (
	// testVariables belong to tests and benchmarks, which may share an environment with a server.
	testVariables = regexp.MustCompile(`^LIMNOMAP_(TEST|BENCH)_`)
	// Kubernetes sets these for a service named limnomap or limnomap-NAME: LIMNOMAP_SERVICE_HOST,
	// LIMNOMAP_SERVICE_PORT_HTTP, LIMNOMAP_PORT_80_TCP_ADDR and so on, and LIMNOMAP_PORT with a URL.
	serviceVariable = regexp.MustCompile(`^LIMNOMAP_([A-Z0-9_]+_)?(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
	portVariable    = regexp.MustCompile(`^LIMNOMAP_([A-Z0-9_]+_)?PORT$`)
	portURL         = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

// isKubernetes reports whether Kubernetes sets that variable.
func isKubernetes(name, value string) bool {
	return serviceVariable.MatchString(name) || portVariable.MatchString(name) && portURL.MatchString(value)
}

// unknownVariables returns an error if the environment has variables named LIMNOMAP_… that belong to no flag. With
// LIMNOMAP_BD instead of LIMNOMAP_DB a server would show the simulated values of the demo.
func unknownVariables(environ []string, app *kong.Application, renamed map[string]string) error {
	known := make(map[string]bool)
	var names []string // without the prefix
	add := func(name string) {
		known[name] = true
		names = append(names, strings.TrimPrefix(name, envPrefix))
	}
	EachFlag(app.Node, func(_ *kong.Node, flag *kong.Flag) {
		for _, name := range flag.Envs {
			add(name)
			if IsSecret(flag) {
				add(name + fileSuffix)
			}
		}
	})
	var errs []error
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, envPrefix) || known[name] || testVariables.MatchString(name) || isKubernetes(name, value) {
			continue
		}
		hint := "limnomap --help lists the flags"
		if now := renamed["--"+strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, envPrefix)), "_", "-")]; now != "" {
			hint = "there is no such flag any more: " + now
		} else if near := nearest(strings.TrimPrefix(name, envPrefix), names); near != "" {
			hint = "did you mean " + envPrefix + near + "?"
		}
		errs = append(errs, fmt.Errorf("unknown environment variable %.80s: %s", name, hint))
	}
	return errors.Join(errs...)
}

// EachFlag calls visit for each flag of a command and of its subcommands.
func EachFlag(n *kong.Node, visit func(*kong.Node, *kong.Flag)) {
	for _, flag := range n.Flags {
		visit(n, flag)
	}
	for _, child := range n.Children {
		EachFlag(child, visit)
	}
}
