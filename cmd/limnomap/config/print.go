package config

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// Print writes the values of all flags as a YAML file that --config accepts, with the origin of each value as a comment and
// without secrets.
func (inv *Invocation) Print(w io.Writer) error {
	selected := inv.Selected()
	name := CommandName(selected)
	fmt.Fprintf(w, "# The settings of limnomap %s, and where each value is from.\n", name)
	for _, flag := range inv.Command.Model.Flags {
		if err := inv.printFlag(w, "", flag); err != nil {
			return err
		}
	}
	indent := ""
	for word := range strings.FieldsSeq(name) {
		fmt.Fprintf(w, "%s%s:\n", indent, word)
		indent += "  "
	}
	for _, flag := range selected.Flags {
		if err := inv.printFlag(w, indent, flag); err != nil {
			return err
		}
	}
	return nil
}

func (inv *Invocation) printFlag(w io.Writer, indent string, flag *kong.Flag) error {
	if !isSetting(flag) {
		return nil
	}
	texts, isSet, err := textsOf(flag)
	if err != nil {
		return err
	}
	origin := inv.resolver.originOf(inv.Command, flag)
	if !isSet && origin == fromDefault {
		_, err = fmt.Fprintf(w, "%s# %s is not set\n", indent, flag.Name)
		return err
	}
	items := make([]*yaml.Node, len(texts))
	for i, v := range elements(flag, reflect.Indirect(flag.Target)) {
		items[i] = scalarOf(flag, printable(v, texts[i]))
		if m, ok := v.Interface().(yaml.Marshaler); ok {
			if err := items[i].Encode(m); err != nil {
				return err
			}
		}
	}
	line, err := yamlOf(flag, items)
	if err != nil {
		return err
	}
	if strings.ContainsFunc(origin, unicode.IsControl) {
		origin = strconv.Quote(origin) // a file may have any name
	}
	_, err = fmt.Fprintf(w, "%s%s: %s # %s\n", indent, flag.Name, line, origin)
	return err
}

// printable returns the text of a value, or dots for a secret and for what looks like one in the wrong place.
func printable(v reflect.Value, text string) string {
	switch secret := v.Interface().(type) {
	case Location:
		return secret.Name()
	case Secret:
		return secret.String()
	}
	if len(secretsIn(text)) > 0 {
		return dots
	}
	return text
}
