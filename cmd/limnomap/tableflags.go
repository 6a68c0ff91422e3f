package main

import (
	"strings"

	"github.com/alecthomas/kong"

	"limnomap/data/ingest"
)

// tableFormatFlags say how CSV files write what their content does not show. Each source of a refresh has its own.
type tableFormatFlags struct {
	Encoding  string         `help:"Character encoding of CSV files, such as windows-1250, iso-8859-2, koi8-r or cp850 (default: UTF-8, or else found out from the letters; a file is refused if they are not clear)." check:"encoding" placeholder:"NAME"`
	DateOrder string         `help:"Order of dates such as 7/9/2018 in CSV files: dmy, mdy or ymd (default: a date with two readings is rejected)." check:"date-order" placeholder:"ORDER"`
	Null      nullWords      `help:"Words that mean no value, in addition to an empty field, n.a. and -, and NA where it is no name or other text, such as -9999,ND." placeholder:"WORD,..."`
	Parameter parameterNames `help:"Name of the parameter that is chlorophyll-a, in CSV files of observations with one row for each parameter (default: its usual names). Repeat the flag for several." placeholder:"NAME"`
}

// format returns the format of tables.
func (f *tableFormatFlags) format() ingest.TableFormat {
	return ingest.TableFormat{Encoding: f.Encoding, DateOrder: f.DateOrder, Null: f.Null, Parameters: f.Parameter}
}

// nullWords is the value of --null, which may be given several times.
type nullWords []string

// Decode implements kong.MapperValue. A number below zero is a word, and not the next flag.
func (w *nullWords) Decode(ctx *kong.DecodeContext) error {
	text, err := popNumber(ctx, "WORD,...")
	if err != nil {
		return err
	}
	return w.UnmarshalText([]byte(text))
}

func (w *nullWords) UnmarshalText(text []byte) error {
	words := strings.Split(string(text), ",")
	*w = append(*w, words...)
	return ingest.TableFormat{Null: words}.Check()
}

// MarshalText writes the words as they are read.
func (w nullWords) MarshalText() ([]byte, error) { return []byte(strings.Join(w, ",")), nil }

// parameterNames is the value of --parameter, which may be given several times. A name may have commas.
type parameterNames []string

func (p *parameterNames) UnmarshalText(text []byte) error {
	*p = append(*p, string(text))
	return ingest.TableFormat{Parameters: *p}.Check()
}

// MarshalText writes the name as it is read.
func (p parameterNames) MarshalText() ([]byte, error) { return []byte(strings.Join(p, "; ")), nil }

// popNumber returns the next value, which may be a number below zero: it is not taken for a flag.
func popNumber(ctx *kong.DecodeContext, what string) (string, error) {
	if next := ctx.Scan.Peek().String(); len(next) > 1 && next[0] == '-' && '0' <= next[1] && next[1] <= '9' {
		return ctx.Scan.Pop().String(), nil
	}
	value, err := ctx.Scan.PopValue(what)
	if err != nil {
		return "", err
	}
	return value.String(), nil
}
