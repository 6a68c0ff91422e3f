package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// An item of a list may have settings of its own. In a file it is a mapping such as {from: inbox, product: cyan}, whose keys are the flags
// of a struct for kong. The type of the items reads it by UnmarshalMapping in its UnmarshalText, and writes it by MarshalMapping in its
// MarshalYAML.

// An itemError is about one item of a list.
type itemError struct {
	index, line int
	error
}

// flowOf returns an item of a list that has settings of its own as a text in one line.
func flowOf(item *yaml.Node) (string, error) {
	flow := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i, n := range item.Content {
		key := item.Content[i&^1]
		if key.Kind != yaml.ScalarNode || !word.MatchString(key.Value) { // an error that repeats it could show a password
			return "", errors.New("key: want a word such as product")
		}
		if n.Kind != yaml.ScalarNode {
			return "", fmt.Errorf("%.80s: want one value, such as product: cyan", key.Value)
		}
		if n.Tag == "!!null" && n != key { // null is a key too
			return "", fmt.Errorf("%.80s: the value is missing", key.Value)
		}
		flow.Content = append(flow.Content, &yaml.Node{Kind: n.Kind, Tag: n.Tag, Style: n.Style, Value: n.Value})
	}
	text, err := yaml.Marshal(flow)
	return string(text), err
}

// modelOf returns the flags of target, a pointer to a struct for kong.
func modelOf(target any, vars kong.Vars) ([]*kong.Flag, error) {
	parser, err := kong.New(target, kong.NoDefaultHelp(), vars)
	if err != nil {
		return nil, err
	}
	return parser.Model.Flags, nil
}

// UnmarshalMapping reads target, a pointer to a struct for kong, from a YAML mapping, or from the value of its first flag. The other flags
// get their defaults.
func UnmarshalMapping(text []byte, target any, vars kong.Vars) error {
	flags, err := modelOf(target, vars)
	if err != nil {
		return err
	}
	for _, flag := range flags {
		if err := flag.Reset(); err != nil {
			return err
		}
	}
	if len(text) == 0 || text[0] != '{' {
		return flags[0].Parse(kong.Scan().PushTyped(string(text), kong.FlagValueToken), flags[0].Target)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return errors.New("this is not YAML")
	}
	names := make([]string, len(flags))
	for i, flag := range flags {
		names[i] = flag.Name
	}
	seen := make(map[string]bool)
	nodes := document.Content[0].Content
	for i := 0; i+1 < len(nodes); i += 2 {
		key := nodes[i].Value
		at := slices.Index(names, key)
		if at < 0 || seen[key] {
			return fmt.Errorf("%.80s: want one of %s, each once", key, strings.Join(names, ", "))
		}
		seen[key] = true
		flag := flags[at]
		value, err := decodeValue(flag, nodes[i+1])
		if err == nil {
			err = flag.Parse(kong.Scan().PushTyped(value, kong.FlagValueToken), flag.Target)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if err := checkRange(flag, vars); err != nil {
			return fmt.Errorf("%s: %s", key, strings.TrimPrefix(err.Error(), "--"+key+" "))
		}
	}
	if !seen[names[0]] {
		return fmt.Errorf("%s: the value is missing", names[0])
	}
	return nil
}

// MarshalMapping returns the flags of target that differ from their defaults, without secrets: a mapping, or only the value of the first
// flag if the others have their defaults.
func MarshalMapping(target any, vars kong.Vars) (*yaml.Node, error) {
	flags, err := modelOf(target, vars)
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for i, flag := range flags {
		texts, _, err := textsOf(flag)
		if err != nil {
			return nil, err
		}
		if i == 0 || texts[0] != flag.Default && !(flag.Default == "" && flag.Target.IsZero()) {
			n.Content = append(n.Content, scalarOf(flag, flag.Name), scalarOf(flag, printable(flag.Target, texts[0])))
		}
	}
	if len(n.Content) == 2 {
		return n.Content[1], nil
	}
	return n, nil
}
