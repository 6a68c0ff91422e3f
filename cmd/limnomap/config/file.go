package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// maxConfigFile bounds a configuration file: one with all keys has about 10 kB.
const maxConfigFile = 256 << 10

// A file is a configuration in YAML. Its keys are the names of flags without dashes. A key at the top is for all commands
// that have such a flag. A key in a section named like a command is for that command, and overrides the top.
type file struct {
	name    string
	renamed map[string]string
	values  map[string]map[*kong.Flag]fileValue // by section, such as "" or "import lakes"
}

// A fileValue is the value of a flag in a file.
type fileValue struct {
	value any // a string or a list, as kong decodes it
	line  int
}

// readFile reads and checks a whole file, also the sections of other commands: an error shows at once, not when that command
// is used.
func readFile(name string, app *kong.Application, renamed map[string]string) (*file, error) {
	text, err := ReadFile(name, maxConfigFile)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return parseFile(name, text, app, renamed)
}

func parseFile(name string, text []byte, app *kong.Application, renamed map[string]string) (*file, error) {
	f := &file{name: name, renamed: renamed, values: make(map[string]map[*kong.Flag]fileValue)}
	// Nodes, not values: an alias stays an alias, so that a small file cannot expand to a huge one.
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return f, nil // only comments
	case err != nil:
		return nil, f.syntaxError(err)
	}
	var second yaml.Node
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, f.syntaxError(err)
		}
		return nil, f.errorf(second.Line, "a second document begins here: want one document")
	}
	return f, f.readSection(document.Content[0], app.Node)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxError returns an error of the YAML library in the form of the other errors.
func (f *file) syntaxError(err error) error {
	text := err.Error()
	line := 0
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		line, _ = strconv.Atoi(m[1]) // 0 without a line
	}
	return f.errorf(line, "this is not YAML: %s", text)
}

// errorf returns an error that names the file and the line, unless the line is 0.
func (f *file) errorf(line int, format string, args ...any) error {
	at := f.name
	if line > 0 {
		at += ":" + strconv.Itoa(line)
	}
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

// word matches a key.
var word = regexp.MustCompile(`^[\w-]*$`)

// readSection reads the keys of a command, or of the top.
func (f *file) readSection(n *yaml.Node, command *kong.Node) error {
	section := CommandName(command)
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil // all keys are commented out
	}
	if n.Kind != yaml.MappingNode {
		return f.errorf(n.Line, "want lines such as api-rate: 300%s", inSection(section))
	}
	lines := make(map[string]int)
	values := make(map[*kong.Flag]fileValue)
	f.values[section] = values
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || !word.MatchString(key.Value) { // an error that repeats a line could show a password
			return f.errorf(key.Line, "a key is a word such as api-rate%s", inSection(section))
		}
		if first := lines[key.Value]; first != 0 {
			return f.errorf(key.Line, "%.80q is already in line %d: want it once%s", key.Value, first, inSection(section))
		}
		lines[key.Value] = key.Line
		if value.Kind == yaml.AliasNode {
			return f.errorf(value.Line, "%.80s: references (*) are not supported: write the value", key.Value)
		}
		flags := flagsByName(command)[key.Value]
		// A word may be both, such as forecast: a flag has a value, a section has lines.
		if sub := subcommand(command, key.Value); sub != nil && (len(flags) == 0 || value.Kind == yaml.MappingNode) {
			if err := f.readSection(value, sub); err != nil {
				return err
			}
			continue
		}
		if len(flags) == 0 || value.Kind == yaml.MappingNode {
			for _, name := range []string{"--" + key.Value, section + " --" + key.Value, strings.TrimSpace(section + " " + key.Value)} {
				if now := f.renamed[name]; now != "" {
					return f.errorf(key.Line, "there is no key %s any more%s: %s", key.Value, inSection(section), now)
				}
			}
		}
		if len(flags) == 0 {
			return f.errorf(key.Line, "unknown key %.80q%s: %s", key.Value, inSection(section), allowedKeys(command, key.Value))
		}
		for _, flag := range flags {
			decoded, err := decodeValue(flag.Flag, value)
			if item, ok := errors.AsType[itemError](err); ok {
				return f.errorf(item.line, "%s[%d].%v%s", key.Value, item.index, item.error, inSection(section))
			}
			if err != nil {
				return f.errorf(key.Line, "%s%s: %v%s", key.Value, inSection(section), err, flag.ownerHint(flags))
			}
			if other, ok := values[flag.Flag]; ok {
				return f.errorf(key.Line, "%s is the setting in line %d: want it once%s", key.Value, other.line, inSection(section))
			}
			values[flag.Flag] = fileValue{decoded, key.Line}
		}
	}
	return nil
}

func inSection(section string) string {
	if section == "" {
		return ""
	}
	return " in the section " + section
}

// lookup returns the value of a flag of a command: from the command's section, from a section around it, or from the top.
func (f *file) lookup(command *kong.Node, flag *kong.Flag) (fileValue, bool) {
	if f == nil {
		return fileValue{}, false
	}
	for ; command != nil; command = command.Parent {
		if v, ok := f.values[CommandName(command)][flag]; ok {
			return v, true
		}
	}
	return fileValue{}, false
}

// CommandName returns the words of a command, such as "import lakes"; "" for the program itself.
func CommandName(n *kong.Node) string {
	var words []string
	for ; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		words = append(words, n.Name)
	}
	slices.Reverse(words)
	return strings.Join(words, " ")
}

// subcommand returns the subcommand of n with that name that has flags, or nil.
func subcommand(n *kong.Node, name string) *kong.Node {
	for _, child := range n.Children {
		if child.Name == name && HasFlags(child) {
			return child
		}
	}
	return nil
}

// HasFlags reports whether a command or one of its subcommands has flags.
func HasFlags(n *kong.Node) bool {
	return len(n.Flags) > 0 || slices.ContainsFunc(n.Children, HasFlags)
}

// A commandFlag is a flag with its command.
type commandFlag struct {
	*kong.Flag
	command *kong.Node
}

// ownerHint names the command of f if flags, which have the same name, belong to several commands.
func (f commandFlag) ownerHint(flags []commandFlag) string {
	if len(flags) == 1 {
		return ""
	}
	return fmt.Sprintf(" (for %s; if you mean another command, write the key in the section of that command)", f.command.Path())
}

// flagsByName returns the settings of a command, of its subcommands, and of all commands.
func flagsByName(n *kong.Node) map[string][]commandFlag {
	flags := make(map[string][]commandFlag)
	add := func(n *kong.Node, flag *kong.Flag) {
		if isSetting(flag) {
			flags[flag.Name] = append(flags[flag.Name], commandFlag{flag, n})
			if key := flag.Tag.Get("key"); key != "" {
				flags[key] = append(flags[key], commandFlag{flag, n})
			}
		}
	}
	EachFlag(n, add)
	if n.Type != kong.ApplicationNode {
		root := n
		for root.Parent != nil {
			root = root.Parent
		}
		for _, flag := range root.Flags {
			add(root, flag)
		}
	}
	return flags
}

// allowedKeys describes the keys that the section of a command may have, and the one that unknown is most like.
func allowedKeys(n *kong.Node, unknown string) string {
	var keys []string
	for key := range flagsByName(n) {
		keys = append(keys, key)
	}
	for _, child := range n.Children {
		if HasFlags(child) {
			keys = append(keys, child.Name)
		}
	}
	allowed := "want a flag of any command without its dashes, or a section named like a command"
	if n.Type == kong.CommandNode {
		allowed = "want a flag of limnomap " + CommandName(n) + " without its dashes"
	}
	if near := nearest(unknown, keys); near != "" {
		return "did you mean " + near + "? " + strings.ToUpper(allowed[:1]) + allowed[1:]
	}
	return allowed
}

// nearest returns the known word that is most like word, or "" if none is like it.
func nearest(word string, known []string) string {
	if len(word) > 80 {
		return ""
	}
	slices.Sort(known) // of several at the same distance always the same one
	best, least := "", max(len(word)/3, 2)+1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}
