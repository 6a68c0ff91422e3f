package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// maxConfigFile bounds what is read of a configuration: one with every key there is has some 10 kB.
const maxConfigFile = 256 << 10

// A configFile is a configuration as YAML. Its keys are flags without their dashes: at the top for all commands that have
// such a flag, as the environment is, and in a section named like a command for that one, which goes before the top.
type configFile struct {
	name   string
	values map[string]map[*kong.Flag]fileValue // by section, such as "" or "import lakes"
}

// A fileValue is what a configuration says of a flag.
type fileValue struct {
	value any // a string or a list, in the form that kong decodes
	line  int
}

// readConfigFile reads and checks the whole file, also what it says of commands other than the one that runs: what is
// wrong shows at once, not when that command runs at last.
func readConfigFile(name string, app *kong.Application) (*configFile, error) {
	text, err := readBounded(name, maxConfigFile)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return parseConfig(name, text, app)
}

func parseConfig(name string, text []byte, app *kong.Application) (*configFile, error) {
	f := &configFile{name: name, values: make(map[string]map[*kong.Flag]fileValue)}
	// A node for each piece of the text: a reference to another piece stays one, and nothing multiplies.
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return f, nil // nothing but comments
	case err != nil:
		return nil, f.syntax(err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, f.syntax(err)
		}
		return nil, f.errorf(second.Line, "a second document begins: want one")
	}
	return f, f.section(document.Content[0], app.Node)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax returns what the YAML library found wrong, as the other errors are written.
func (f *configFile) syntax(err error) error {
	text := err.Error()
	line := 0
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		line, _ = strconv.Atoi(m[1]) // 0 where there is none
	}
	return f.errorf(line, "this is no YAML: %s", text)
}

// errorf returns an error that names the file and the line, if that is known.
func (f *configFile) errorf(line int, format string, args ...any) error {
	at := f.name
	if line > 0 {
		at += ":" + strconv.Itoa(line)
	}
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

// section reads the keys of a command, or of the top.
func (f *configFile) section(n *yaml.Node, command *kong.Node) error {
	called := sectionName(command)
	if empty(n) {
		return nil // all is commented out
	}
	if n.Kind != yaml.MappingNode {
		return f.errorf(n.Line, "want lines such as api-rate: 300%s", inSection(called))
	}
	lines := make(map[string]int)
	values := make(map[*kong.Flag]fileValue)
	f.values[called] = values
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return f.errorf(key.Line, "a key is a word such as api-rate%s", inSection(called))
		}
		if before := lines[key.Value]; before != 0 {
			return f.errorf(key.Line, "%.80q stands in line %d already: want it once%s", key.Value, before, inSection(called))
		}
		lines[key.Value] = key.Line
		if value.Kind == yaml.AliasNode {
			return f.errorf(value.Line, "%.80s: references (*) are not known here: write the value", key.Value)
		}
		if sub := subcommand(command, key.Value); sub != nil {
			if err := f.section(value, sub); err != nil {
				return err
			}
			continue
		}
		flags := flagsBelow(command)[key.Value]
		if len(flags) == 0 {
			return f.errorf(key.Line, "unknown key %.80q%s: %s", key.Value, inSection(called), allowedKeys(command, key.Value))
		}
		for _, of := range flags {
			taken, err := take(of.Flag, value)
			if err != nil {
				return f.errorf(key.Line, "%s%s: %v%s", key.Value, inSection(called), err, of.unlike(flags))
			}
			values[of.Flag] = fileValue{taken, key.Line}
		}
	}
	return nil
}

func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func inSection(called string) string {
	if called == "" {
		return ""
	}
	return " in the section " + called
}

// lookup returns what the file says of a flag of a command: in the command's section, in one around that, or at the top.
func (f *configFile) lookup(command *kong.Node, flag *kong.Flag) (fileValue, bool) {
	if f == nil {
		return fileValue{}, false
	}
	for ; command != nil; command = command.Parent {
		if v, ok := f.values[sectionName(command)][flag]; ok {
			return v, true
		}
	}
	return fileValue{}, false
}

// sectionName returns the words of a command, such as "import lakes"; "" for what stands before all commands.
func sectionName(n *kong.Node) string {
	var words []string
	for ; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		words = append(words, n.Name)
	}
	slices.Reverse(words)
	return strings.Join(words, " ")
}

// subcommand returns the command of that name below n that can be configured, nil if there is none.
func subcommand(n *kong.Node, name string) *kong.Node {
	for _, child := range n.Children {
		if child.Name == name && configurable(child) {
			return child
		}
	}
	return nil
}

// configurable reports whether n or a command below it has flags of its own.
func configurable(n *kong.Node) bool {
	return len(n.Flags) > 0 || slices.ContainsFunc(n.Children, configurable)
}

// A commandFlag is a flag with the command that has it.
type commandFlag struct {
	*kong.Flag
	command *kong.Node
}

// unlike says of which command f is, where others of flags are of other commands.
func (f commandFlag) unlike(flags []commandFlag) string {
	if len(flags) == 1 {
		return ""
	}
	return fmt.Sprintf(" (as %s has it; if it is for another command, write it into that one's section)", f.command.Path())
}

// flagsBelow returns, by name, the flags of a command, of those below it and of all commands, as far as a file may set
// them.
func flagsBelow(n *kong.Node) map[string][]commandFlag {
	found := make(map[string][]commandFlag)
	var add func(n *kong.Node)
	add = func(n *kong.Node) {
		for _, flag := range n.Flags {
			if inFile(flag) {
				found[flag.Name] = append(found[flag.Name], commandFlag{flag, n})
			}
		}
		for _, child := range n.Children {
			add(child)
		}
	}
	add(n)
	if n.Type != kong.ApplicationNode {
		root := n
		for root.Parent != nil {
			root = root.Parent
		}
		for _, flag := range root.Flags {
			if inFile(flag) {
				found[flag.Name] = append(found[flag.Name], commandFlag{flag, root})
			}
		}
	}
	return found
}

// inFile reports whether a file may set that flag. It cannot name itself, and does not ask for help.
func inFile(f *kong.Flag) bool { return f.Name != "help" && f.Name != "config" }

// allowedKeys says what may stand in the section of a command, and which key was meant, most likely.
func allowedKeys(n *kong.Node, instead string) string {
	keys := make([]string, 0, 64)
	for key := range flagsBelow(n) {
		keys = append(keys, key)
	}
	for _, child := range n.Children {
		if configurable(child) {
			keys = append(keys, child.Name)
		}
	}
	allowed := "allowed are the flags of all commands without their dashes, and a section for each command"
	if n.Type == kong.CommandNode {
		allowed = "allowed are the flags of limnomap " + sectionName(n) + " without their dashes"
	}
	if near := nearest(instead, keys); near != "" {
		return "did you mean " + near + "? " + strings.ToUpper(allowed[:1]) + allowed[1:]
	}
	return allowed
}

// nearest returns the one of known that is likely to be meant by a word, "" if none is like it.
func nearest(word string, known []string) string {
	if len(word) > 80 {
		return ""
	}
	slices.Sort(known) // of several as near always the same one
	best, least := "", max(len(word)/3, 2)+1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// readBounded returns what is in a file that has at most so many bytes. A pipe, which can be read but once and may wait
// for ever for its writer, is no such file.
func readBounded(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("%s is longer than the %d bytes that are read of such a file", name, most)
	}
	return text, nil
}
