package main

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"limnomap/api"
)

// frameAncestors is the one sort of values that is a list in a file and a single text as a flag.
var frameAncestors = reflect.TypeFor[api.FrameAncestors]()

// take returns the value of a flag, once it is known that the flag takes it. Errors never repeat a value of the wrong
// sort: it may be a secret in the wrong place.
func take(flag *kong.Flag, n *yaml.Node) (any, error) {
	taken, err := takeNode(flag, n)
	if err != nil {
		return nil, err
	}
	scratch := reflect.New(flag.Target.Type()).Elem()
	if scratch.Kind() == reflect.Pointer {
		scratch.Set(reflect.New(scratch.Type().Elem()))
	}
	scan := kong.Scan().PushTyped(taken, kong.FlagValueToken)
	if err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, scratch); err != nil {
		return nil, err
	}
	return taken, inEnum(flag, scratch)
}

// inEnum returns an error if v is none of the values that flag may have.
func inEnum(flag *kong.Flag, v reflect.Value) error {
	if flag.Enum == "" {
		return nil
	}
	each := []reflect.Value{v}
	if v.Kind() == reflect.Slice {
		each = each[:0]
		for i := range v.Len() {
			each = append(each, v.Index(i))
		}
	}
	for _, v := range each {
		if got := fmt.Sprint(v.Interface()); !slices.Contains(flag.EnumSlice(), got) {
			return fmt.Errorf("%.80q is none of %s", got, strings.Join(flag.EnumSlice(), ", "))
		}
	}
	return nil
}

func takeNode(flag *kong.Flag, n *yaml.Node) (any, error) {
	elem := flag.Target.Type()
	if !flag.IsSlice() {
		if n.Kind == yaml.SequenceNode && elem == frameAncestors {
			return takeList(n)
		}
		return takeScalar(elem, n)
	}
	elem = elem.Elem()
	items := []*yaml.Node{n}
	switch {
	case n.Kind == yaml.SequenceNode:
		items = n.Content
	case n.Kind == yaml.ScalarNode && strings.Contains(n.Value, ","):
		return nil, errors.New("this is one text with commas: want a list, such as [a, b]")
	}
	list := make([]any, 0, len(items)) // not nil: an empty list is a value
	for _, item := range items {
		text, err := takeScalar(elem, item)
		if err != nil {
			return nil, err
		}
		if err := readable(elem, text); err != nil {
			return nil, err
		}
		if kindOf(elem) == wholeNumber {
			number, err := strconv.ParseInt(text, 0, 64)
			if err != nil {
				return nil, fmt.Errorf("%.40q is no whole number that fits", text)
			}
			list = append(list, number)
			continue
		}
		list = append(list, text)
	}
	return list, nil
}

// readable returns why a type that is read from a text of its own form is not read from this one. Of a list kong would say so
// with all of the list and Go's names for it.
func readable(t reflect.Type, text string) error {
	if u, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	return nil
}

// takeList returns the texts of a list with commas between, as a flag has them that is one text.
func takeList(n *yaml.Node) (string, error) {
	var items []string
	for _, item := range n.Content {
		text, err := takeScalar(frameAncestors, item)
		if err != nil {
			return "", err
		}
		items = append(items, text)
	}
	return strings.Join(items, ","), nil
}

// takeScalar returns the text of a single value that is of the sort that a flag of that type takes.
func takeScalar(t reflect.Type, n *yaml.Node) (string, error) {
	kind := kindOf(t)
	if n.Kind == yaml.AliasNode {
		return "", errors.New("references (*) are not known here: write the value")
	}
	if n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 {
		switch tag := n.ShortTag(); {
		case tag == "!!null":
			return "", errors.New("there is no value: leave the line out for the default, or write \"\" for an empty text")
		case slices.Contains(kind.tags, tag):
			return n.Value, nil
		}
	}
	return "", fmt.Errorf("want %s", kind.want)
}
