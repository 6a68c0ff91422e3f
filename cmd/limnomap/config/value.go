package config

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// A valueKind is a kind of values in YAML.
type valueKind struct {
	want string   // for errors
	tags []string // of YAML values of this kind
}

var (
	wholeNumber = &valueKind{"a whole number, such as 300, without quotes", []string{"!!int"}}
	number      = &valueKind{"a number, such as 0.5, without quotes", []string{"!!int", "!!float"}}
	yesOrNo     = &valueKind{"true or false, without quotes", []string{"!!bool"}}
	// To YAML a size such as 4096 is a number and a day such as 2026-01-01 is a time.
	plainText = &valueKind{"a text, in quotes if YAML reads it as something else", []string{"!!str", "!!int", "!!float", "!!timestamp"}}
)

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	yamlMarshaler   = reflect.TypeFor[yaml.Marshaler]() // items of a list that may be mappings
)

// kindOf returns the kind of the values of a type.
func kindOf(t reflect.Type) *valueKind {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) || t == reflect.TypeFor[time.Duration]() {
		return plainText
	}
	switch t.Kind() {
	case reflect.Bool:
		return yesOrNo
	case reflect.Float32, reflect.Float64:
		return number
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return wholeNumber
	}
	return plainText
}

// elemType returns the type of the value of a flag, or of the elements of a list.
func elemType(flag *kong.Flag) reflect.Type {
	if flag.IsSlice() {
		return flag.Target.Type().Elem()
	}
	return flag.Target.Type()
}

// decodeValue returns the value of a flag in a file, in the form that kong decodes, once it is sure that kong can. Errors do
// not repeat a value of a wrong kind, which may be a secret.
func decodeValue(flag *kong.Flag, n *yaml.Node) (any, error) {
	value, err := decodeNode(flag, n)
	if err != nil {
		return nil, err
	}
	decoded, err := decode(flag, kong.Scan().PushTyped(value, kong.FlagValueToken))
	if err != nil {
		return nil, err
	}
	return value, checkEnum(flag, decoded)
}

// checkEnum returns an error if v has a value that the flag does not allow.
func checkEnum(flag *kong.Flag, v reflect.Value) error {
	if flag.Enum == "" {
		return nil
	}
	for _, v := range elements(flag, v) {
		if got := fmt.Sprint(v.Interface()); !slices.Contains(flag.EnumSlice(), got) {
			return fmt.Errorf("%.80q is none of %s", got, strings.Join(flag.EnumSlice(), ", "))
		}
	}
	return nil
}

// decodeNode returns a text or, for a flag with several values, a list.
func decodeNode(flag *kong.Flag, n *yaml.Node) (any, error) {
	items := []*yaml.Node{n}
	switch {
	case n.Kind == yaml.SequenceNode && (flag.IsSlice() || isList(flag)):
		items = n.Content
	case n.Kind == yaml.ScalarNode && flag.IsSlice() && strings.Contains(n.Value, ","):
		return nil, errors.New("this is one text with commas: want a list, such as [a, b]")
	}
	texts := make([]string, len(items))
	values := make([]any, len(items)) // an empty list is a value
	for i, item := range items {
		var err error
		elem := elemType(flag)
		isMapping := item.Kind == yaml.MappingNode && elem.Implements(yamlMarshaler)
		if isMapping {
			texts[i], err = flowOf(item)
		} else {
			texts[i], err = decodeScalar(elem, item)
		}
		if err == nil && flag.IsSlice() {
			values[i], err = itemOf(elem, texts[i])
		}
		if err != nil && isMapping {
			return nil, itemError{i, item.Line, err}
		}
		if err != nil {
			return nil, err
		}
	}
	if flag.IsSlice() {
		return values, nil
	}
	return strings.Join(texts, ","), nil
}

// itemOf returns an item of a list. It checks what kong would check later, with a better error: kong's names Go types.
func itemOf(elem reflect.Type, text string) (any, error) {
	if kindOf(elem) == wholeNumber {
		number, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("%.40q is not a whole number of 64 bits", text)
		}
		return number, nil
	}
	if u, ok := reflect.New(elem).Interface().(encoding.TextUnmarshaler); ok {
		return text, u.UnmarshalText([]byte(text))
	}
	return text, nil
}

// decodeScalar returns the text of a single value, which must be of the kind of that type.
func decodeScalar(t reflect.Type, n *yaml.Node) (string, error) {
	kind := kindOf(t)
	if n.Kind == yaml.AliasNode {
		return "", errors.New("references (*) are not supported: write the value")
	}
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 {
		switch tag := n.ShortTag(); {
		case tag == "!!null":
			return "", errors.New("the value is missing: remove the line for the default, or write \"\" for an empty text")
		case slices.Contains(kind.tags, tag):
			return n.Value, nil
		}
	}
	return "", fmt.Errorf("want %s", kind.want)
}

// textsOf returns the value of a flag as texts: one, or those of a list. isSet is false if the flag has no value.
func textsOf(flag *kong.Flag) (texts []string, isSet bool, err error) {
	v := flag.Target
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, false, nil
		}
		v = v.Elem()
	}
	for _, v := range elements(flag, v) {
		text, err := textOf(v)
		if err != nil {
			return nil, false, fmt.Errorf("--%s: %w", flag.Name, err)
		}
		texts = append(texts, text)
	}
	return texts, len(texts) > 0 && (flag.IsSlice() || texts[0] != ""), nil
}

// elements returns the values of a list, or v itself if the flag has one value.
func elements(flag *kong.Flag, v reflect.Value) []reflect.Value {
	if !flag.IsSlice() {
		return []reflect.Value{v}
	}
	values := make([]reflect.Value, v.Len())
	for i := range values {
		values[i] = v.Index(i)
	}
	return values
}

// textOf returns the text that v can be read from, even of a secret.
func textOf(v reflect.Value) (string, error) {
	switch x := v.Interface().(type) {
	case interface{ Reveal() string }:
		return x.Reveal(), nil
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		return string(text), err
	case time.Duration:
		return x.String(), nil
	}
	if reflect.PointerTo(v.Type()).Implements(textUnmarshaler) {
		return "", fmt.Errorf("%s has UnmarshalText but not MarshalText", v.Type())
	}
	return fmt.Sprint(v.Interface()), nil
}

// scalarOf returns a text of a flag as YAML that takes one line.
func scalarOf(flag *kong.Flag, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if kindOf(elemType(flag)) == plainText {
		n.Tag = "!!str"
		if strings.ContainsFunc(text, unicode.IsControl) {
			n.Style = yaml.DoubleQuotedStyle // other styles would take several lines
		}
	}
	return n
}

// yamlOf returns the values of a flag as YAML in one line.
func yamlOf(flag *kong.Flag, items []*yaml.Node) (string, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: items}
	if !flag.IsSlice() {
		n = n.Content[0]
	}
	line, err := yaml.Marshal(n)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag.Name, err)
	}
	return string(line[:len(line)-1]), nil
}
