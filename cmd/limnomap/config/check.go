package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// IsSecret reports whether the values of a flag are secrets.
func IsSecret(flag *kong.Flag) bool {
	return elemType(flag).Implements(reflect.TypeFor[interface{ Reveal() string }]())
}

func isReloadable(flag *kong.Flag) bool { return flag.Tag.Has("reload") }

// isList reports whether a flag that is one text may be a list in a file.
func isList(flag *kong.Flag) bool { return flag.Tag.Has("list") }

// isSetting reports whether a flag is a setting, which a file may hold and Print prints.
func isSetting(flag *kong.Flag) bool { return flag.Name != "help" && flag.Name != "config" }

// check checks the value of each flag by the flag's tags.
func (inv *Invocation) check(opts *Options) error {
	for _, flag := range inv.Command.Flags() {
		if !isSetting(flag) {
			continue
		}
		texts, _, err := textsOf(flag)
		if err != nil {
			return err
		}
		if err := errors.Join(inv.checkEmpty(flag, texts), checkDots(flag, texts), checkRange(flag, opts.Vars), checkRule(flag, texts, opts.Rules)); err != nil {
			return err
		}
	}
	return nil
}

// checkEmpty returns an error if a database is named by an empty text, as by a script whose variable is not set: without
// it the server would show the simulated values of the demo.
func (inv *Invocation) checkEmpty(flag *kong.Flag, texts []string) error {
	if flag.Name == "db" && texts[0] == "" && inv.resolver.originOf(inv.Command, flag) != fromDefault {
		return errors.New("--db is empty: name a database, or for the demo remove --db, LIMNOMAP_DB and the key db")
	}
	return nil
}

// checkDots returns an error if a value was copied from what Print printed instead of a secret; <hidden> is what v0.1.0 printed.
func checkDots(flag *kong.Flag, texts []string) error {
	for _, text := range texts {
		for _, printed := range []string{dots, "<hidden>"} {
			if strings.Contains(text, printed) {
				return fmt.Errorf("--%s: %s was printed instead of a secret: write the secret itself", flag.Name, printed)
			}
		}
	}
	return nil
}

// checkRange checks the value of a flag by its tag allowed.
func checkRange(flag *kong.Flag, vars kong.Vars) error {
	tag := os.Expand(flag.Tag.Get("allowed"), func(name string) string { return vars[name] })
	v := flag.Target
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if tag == "" || !v.IsValid() { // a nil pointer
		return nil
	}
	low, high, _ := strings.Cut(tag, "..")
	toLow, err := compare(flag, v, low)
	if err != nil {
		return err
	}
	toHigh, err := compare(flag, v, high)
	if err != nil {
		return err
	}
	if toLow >= 0 && toHigh <= 0 {
		return nil
	}
	text, err := textOf(v)
	if err != nil {
		return err
	}
	if high == "" {
		return fmt.Errorf("--%s %s: want %s or more", flag.Name, text, low)
	}
	return fmt.Errorf("--%s %s: want %s to %s", flag.Name, text, low, high)
}

// compare returns -1 if a value of a flag is less than limit, 1 if it is more, and 0 if it is equal or there is no limit. NaN
// is less than all numbers.
func compare(flag *kong.Flag, v reflect.Value, limit string) (int, error) {
	if limit == "" {
		return 0, nil
	}
	want, err := decode(flag, kong.Scan(limit))
	if err != nil {
		return 0, fmt.Errorf("--%s: the tag allowed: %w", flag.Name, err)
	}
	if want.CanFloat() {
		return cmp.Compare(v.Float(), want.Float()), nil
	}
	return cmp.Compare(v.Int(), want.Int()), nil
}

// decode returns the value that kong decodes for a flag, without setting the flag.
func decode(flag *kong.Flag, scan *kong.Scanner) (reflect.Value, error) {
	v := reflect.New(flag.Target.Type()).Elem()
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
	}
	err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, v)
	return reflect.Indirect(v), err
}

// checkRule checks the values of a flag by the rule that its tag check names. A flag without a default may be empty.
func checkRule(flag *kong.Flag, texts []string, rules map[string]func(string) error) error {
	rule := flag.Tag.Get("check")
	if rule == "" {
		return nil
	}
	keep := rules[rule]
	if keep == nil {
		return fmt.Errorf("--%s: there is no rule %q", flag.Name, rule)
	}
	for _, text := range texts {
		if text == "" && !flag.HasDefault {
			continue
		}
		if err := keep(text); err != nil {
			return fmt.Errorf("--%s: %w", flag.Name, err)
		}
	}
	return nil
}
