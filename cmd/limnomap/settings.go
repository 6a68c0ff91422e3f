package main

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
	envPrefix = "LIMNOMAP_"
	// fileSuffix makes the variable of a secret one that names the file which holds it, as Docker's and Kubernetes'
	// secrets and systemd's credentials are files.
	fileSuffix = "_FILE"
	// maxSecret bounds what is read of such a file, which holds a URL or a few.
	maxSecret = 64 << 10
)

// settings are what the environment and a file say of flags. To kong they are the source of all flags that the command
// line leaves out: first the environment, then the file. Defaults are what remains.
type settings struct {
	lookupEnv func(string) (string, bool)
	file      *configFile
	asked     bool                  // whether --config has been looked at
	origins   map[*kong.Flag]origin // of the flags that were set here
}

// An origin is where the value of a flag comes from.
type origin struct{ text string }

var (
	fromCommandLine = origin{"command line"}
	fromDefault     = origin{"default"}
)

func newSettings() *settings {
	return &settings{lookupEnv: os.LookupEnv, origins: make(map[*kong.Flag]origin)}
}

// open reads the file that --config or the environment names, if there is one. Kong calls it several times.
func (s *settings) open(ctx *kong.Context) error {
	if s.asked || ctx.Command() == versionCommand {
		return nil
	}
	s.asked = true
	for _, flag := range ctx.Model.Flags {
		if flag.Name != "config" {
			continue
		}
		name, _ := ctx.FlagValue(flag).(string)
		if name == "" && s.said(ctx, flag) {
			return errors.New("--config is empty: want the name of a YAML file, or nothing of --config and LIMNOMAP_CONFIG")
		}
		if name != "" {
			file, err := readConfigFile(name, ctx.Model)
			if err != nil {
				return fileError{err}
			}
			s.file = file
		}
	}
	return nil
}

// A fileError tells what is wrong with a configuration file. It says all there is to say.
type fileError struct{ error }

// Validate is kong's.
func (s *settings) Validate(*kong.Application) error { return nil }

// Resolve returns what the environment or else the file says of a flag, nil if they say nothing.
func (s *settings) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		value, variable, ok, err := s.fromEnv(flag, name)
		if err != nil {
			return nil, err
		}
		if ok {
			s.origins[flag] = origin{variable}
			return value, nil
		}
	}
	if v, ok := s.file.lookup(ctx.Selected(), flag); ok && inFile(flag) {
		s.origins[flag] = origin{s.file.name + ":" + strconv.Itoa(v.line)}
		return v.value, nil
	}
	return nil, nil
}

// fromEnv returns what the variable of that name says, or for a secret the file that name_FILE names, and which of the
// two it was.
func (s *settings) fromEnv(flag *kong.Flag, name string) (value, variable string, ok bool, err error) {
	value, ok = s.lookupEnv(name)
	if !isSecret(flag) {
		return value, name, ok, nil
	}
	file, named := s.lookupEnv(name + fileSuffix)
	switch {
	case !named:
		return value, name, ok, nil
	case file == "":
		return "", "", false, fmt.Errorf("%s%s is empty: want the name of a file, or no such variable", name, fileSuffix)
	case ok:
		return "", "", false, fmt.Errorf("%s and %s%s are both set: want one of them", name, name, fileSuffix)
	}
	text, err := readBounded(file, maxSecret)
	if err != nil {
		return "", "", false, fmt.Errorf("%s%s: %w", name, fileSuffix, err)
	}
	if value = strings.TrimRight(string(text), "\r\n"); strings.ContainsAny(value, "\r\n\x00") || value == "" {
		return "", "", false, fmt.Errorf("%s%s: %s has no text, or several lines: want one", name, fileSuffix, file)
	}
	return value, name + fileSuffix, true, nil
}

// originOf returns where the value of a flag comes from.
func (s *settings) originOf(ctx *kong.Context, flag *kong.Flag) origin {
	if o, ok := s.origins[flag]; ok {
		return o
	}
	for _, p := range ctx.Path {
		if p.Flag == flag && !p.Resolved {
			return fromCommandLine
		}
	}
	return fromDefault
}

// said reports whether the command line or the environment has a flag, be it with an empty value.
func (s *settings) said(ctx *kong.Context, flag *kong.Flag) bool {
	for _, name := range flag.Envs {
		if _, ok := s.lookupEnv(name); ok {
			return true
		}
	}
	return s.originOf(ctx, flag) == fromCommandLine
}

// checkDatabase returns an error if a database is named by an empty text, as a script does whose variable is not set: that
// is not to have the demo's simulated values served for those of real lakes.
func (s *settings) checkDatabase(ctx *kong.Context) error {
	for _, flag := range ctx.Flags() {
		if flag.Name == "db" && flag.Target.String() == "" && s.originOf(ctx, flag) != fromDefault {
			return errors.New("--db is empty: want a database, or nothing of --db, LIMNOMAP_DB and the key db where the demo is wanted")
		}
	}
	return nil
}

var flagInText = regexp.MustCompile(`--[a-z][a-z0-9-]*`)

// explain adds to an error where the flags that it names have their values from, unless it is the command line, which
// whoever reads the error has before their eyes.
func (s *settings) explain(err error) error {
	if err == nil {
		return nil
	}
	named := flagInText.FindAllString(err.Error(), -1)
	var origins []string
	for flag, o := range s.origins {
		if name := "--" + flag.Name; slices.Contains(named, name) && !strings.Contains(err.Error(), o.text) {
			origins = append(origins, name+" is from "+o.text)
		}
	}
	if len(origins) == 0 {
		return err
	}
	slices.Sort(origins)
	return fmt.Errorf("%w (%s)", err, strings.Join(slices.Compact(origins), ", "))
}

var (
	// ownVariables are those that tests and measurements go by, which may share an environment with a server.
	ownVariables = regexp.MustCompile(`^LIMNOMAP_(TEST_|REQUIRE_|BENCH_|FAULTS$|SOAK$)`)
	// These are what Kubernetes sets for a service named limnomap, or limnomap-NAME: LIMNOMAP_SERVICE_HOST,
	// LIMNOMAP_SERVICE_PORT_HTTP, LIMNOMAP_PORT_80_TCP_ADDR and the like, and LIMNOMAP_PORT with such a URL.
	serviceVariable = regexp.MustCompile(`^LIMNOMAP_([A-Z0-9_]+_)?(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
	portVariable    = regexp.MustCompile(`^LIMNOMAP_([A-Z0-9_]+_)?PORT$`)
	portURL         = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

// isLink reports whether a variable is one that Kubernetes sets.
func isLink(name, value string) bool {
	return serviceVariable.MatchString(name) || portVariable.MatchString(name) && portURL.MatchString(value)
}

// unknownVariables returns an error if the environment has variables of limnomap's that are no flag's: a LIMNOMAP_BD
// would have the demo's simulated values served for those of real lakes.
func unknownVariables(environ []string, app *kong.Application) error {
	known := make(map[string]bool)
	each(app.Node, func(_ *kong.Node, flag *kong.Flag) {
		for _, name := range flag.Envs {
			known[name] = true
			if isSecret(flag) {
				known[name+fileSuffix] = true
			}
		}
	})
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, strings.TrimPrefix(name, envPrefix))
	}
	var errs []error
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, envPrefix) || known[name] || ownVariables.MatchString(name) || isLink(name, value) {
			continue
		}
		hint := "limnomap --help tells which there are"
		if near := nearest(strings.TrimPrefix(name, envPrefix), names); near != "" {
			hint = "did you mean " + envPrefix + near + "?"
		}
		errs = append(errs, fmt.Errorf("the environment has %.80s, which no command knows: %s", name, hint))
	}
	return errors.Join(errs...)
}

// each calls visit with every flag of n and of the commands below it.
func each(n *kong.Node, visit func(*kong.Node, *kong.Flag)) {
	for _, flag := range n.Flags {
		visit(n, flag)
	}
	for _, child := range n.Children {
		each(child, visit)
	}
}
