package main

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// A valueKind is a sort of values that flags take, as YAML knows them.
type valueKind struct {
	want string
	tags []string // of YAML that are taken for it
	name string   // in the reference
}

var (
	wholeNumber = &valueKind{"a whole number, such as 300, without quotes", []string{"!!int"}, "whole number"}
	number      = &valueKind{"a number, such as 0.5, without quotes", []string{"!!int", "!!float"}, "number"}
	yesOrNo     = &valueKind{"true or false, without quotes", []string{"!!bool"}, "true or false"}
	// A size such as 4096 and a day such as 2026-01-01 are texts to their flags and something else to YAML.
	plainText = &valueKind{"a text, in quotes where YAML takes it for something else", []string{"!!str", "!!int", "!!float", "!!timestamp"}, "text"}
)

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// kindOf returns the sort of values of a flag, or of an element of a flag that is a list.
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

// valuesOf returns the value of a flag as texts: one, or those of a list. It is not set if it has no value at all.
func valuesOf(flag *kong.Flag) (texts []string, set bool, err error) {
	v := flag.Target
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, false, nil
		}
		v = v.Elem()
	}
	if !flag.IsSlice() {
		text, err := textOf(v)
		if err != nil {
			return nil, false, fmt.Errorf("--%s: %w", flag.Name, err)
		}
		return []string{text}, text != "", nil
	}
	for i := range v.Len() {
		text, err := textOf(v.Index(i))
		if err != nil {
			return nil, false, fmt.Errorf("--%s: %w", flag.Name, err)
		}
		texts = append(texts, text)
	}
	return texts, len(texts) > 0, nil
}

// textOf returns the text that v is read from.
func textOf(v reflect.Value) (string, error) {
	switch x := v.Interface().(type) {
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		return string(text), err
	case time.Duration:
		return x.String(), nil
	}
	if reflect.PointerTo(v.Type()).Implements(textUnmarshaler) {
		return "", fmt.Errorf("%s can be read and not written", v.Type())
	}
	return fmt.Sprint(v.Interface()), nil
}

// yamlOf returns texts as a file has them, in one line.
func yamlOf(flag *kong.Flag, texts []string) (string, error) {
	t := flag.Target.Type()
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	if flag.IsSlice() {
		t = t.Elem()
	}
	for _, text := range texts {
		item := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
		if kindOf(t) == plainText {
			item.Tag = "!!str"
			if strings.ContainsFunc(text, unicode.IsControl) {
				item.Style = yaml.DoubleQuotedStyle // or it would take several lines
			}
		}
		n.Content = append(n.Content, item)
	}
	if !flag.IsSlice() {
		n = n.Content[0]
	}
	line, err := yaml.Marshal(n)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag.Name, err)
	}
	return string(line[:len(line)-1]), nil
}
