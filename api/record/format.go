package record

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// A Format is how the values of a record are written.
type Format uint8

const (
	Member   Format = iota // of an object in JSON
	Property               // of a feature in GeoJSON: as Member, but never an object, which few programs show
	Cell                   // of a table in CSV
)

const lineEnd = "\r\n"

// null appends null, which is empty in a table.
func (f Format) null(b []byte) []byte {
	if f == Cell {
		return b
	}
	return append(b, "null"...)
}

// word appends a text that needs no escape.
func (f Format) word(b []byte, s string) []byte {
	if f == Cell {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// Text appends a text.
func (f Format) Text(b []byte, s string) []byte {
	if f == Cell {
		return appendCell(b, s)
	}
	return appendString(b, s)
}

// time appends t in UTC, to the second.
func (f Format) time(b []byte, t time.Time) []byte {
	if f == Cell {
		return AppendTime(b, t)
	}
	return append(AppendTime(append(b, '"'), t), '"')
}

// AppendTime appends t in UTC, to the second, without quotes.
func AppendTime(b []byte, t time.Time) []byte { return t.UTC().AppendFormat(b, time.RFC3339) }

// appendFloat appends a finite number, in the fewest digits that identify it.
func appendFloat(b []byte, n float64) []byte { return strconv.AppendFloat(b, n, 'f', -1, 64) }

// appendString appends s as encoding/json does: quoted, and with each byte that is not UTF-8 replaced.
func appendString(b []byte, s string) []byte {
	if isPlain(s) {
		return Member.word(b, s)
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("record: a string must marshal: " + err.Error())
	}
	return append(b, quoted...)
}

// isPlain reports whether s needs no escape. Only names ever do.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c >= 0x7f, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// appendCell appends a text. It is quoted if it contains a character that ends a cell, also for programs that guess the
// separator, or a space that could be trimmed.
func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",;|\t\r\n") && strings.TrimSpace(s) == s {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
