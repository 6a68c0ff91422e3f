package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxQuoted is more bytes of a value than an error message quotes.
const maxQuoted = 200

// A jsonList reads a file whose rows are the elements of an array, which is a member of an object or the whole file. One of them is in
// memory, or one other member.
type jsonList struct {
	json  *json.Decoder
	bound rowBound
	name  string // of the member with the array
	// other is given the members of the file that are not the array.
	other func(name string, value []byte) error
	early error // the error of a file that ends early
	whole bool  // whether the array is the whole file
	ended bool  // whether the array has ended
	count int   // of elements so far
	value json.RawMessage
}

// start reads up to the first element, and returns whether there is an array.
func (l *jsonList) start(r io.Reader) (found bool, err error) {
	l.bound.r = r
	l.json = json.NewDecoder(&l.bound)
	token, err := l.json.Token() // the opening brace or bracket
	if err != nil {
		return false, l.explain(err)
	}
	if l.whole = token == json.Delim('['); l.whole {
		return true, nil
	}
	return l.members()
}

func (l *jsonList) number() int { return l.count }

func (l *jsonList) offset() int64 { return l.json.InputOffset() }

// decode reads the next value, which is valid until the following call.
func (l *jsonList) decode() error {
	start := l.json.InputOffset()
	l.bound.rowStart = start
	if err := l.json.Decode(&l.value); err != nil {
		return l.explain(err)
	}
	if space := l.json.InputOffset() - start - int64(len(l.value)); space > maxTextBytes || hasLongText(l.value) {
		return errLongText
	}
	return nil
}

// hasLongText reports whether a text, a number or white space in a value has more than maxTextBytes.
func hasLongText(value []byte) bool {
	if len(value) <= maxTextBytes {
		return false
	}
	start := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i += valueEnd(value[i:]) - 1
		case '{', '}', '[', ']', ',', ':':
			start = i + 1
		}
		if i-start >= maxTextBytes {
			return true
		}
	}
	return false
}

// explain replaces the error of an early end, after which elements may be missing.
func (l *jsonList) explain(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return l.early
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		rest, _ := io.ReadAll(l.json.Buffered()) // from the beginning of the value on
		if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(rest, new(json.RawMessage))); ok {
			return fmt.Errorf("byte %d: %w", l.json.InputOffset()+syntax.Offset, syntax)
		}
	}
	return err
}

// members reads members up to the array, which sets found, or to the end of the file.
func (l *jsonList) members() (found bool, err error) {
	for n := 0; l.json.More(); n++ {
		if n == maxMembers {
			return false, fmt.Errorf("more than %d members: want at most as many", maxMembers)
		}
		l.bound.rowStart = l.json.InputOffset()
		token, err := l.json.Token()
		if err != nil {
			return false, l.explain(err)
		}
		name, _ := token.(string)
		if len(name) > maxTextBytes {
			return false, errLongText
		}
		name = name[:min(len(name), maxQuoted)]
		if name != l.name {
			if err := l.decode(); err != nil {
				return false, fmt.Errorf("%.40q: %w", name, err)
			}
			if err := l.other(name, l.value); err != nil {
				return false, err
			}
			continue
		}
		if token, err = l.json.Token(); err != nil {
			return false, l.explain(err)
		}
		if token != json.Delim('[') {
			return false, fmt.Errorf("%q is not an array: want an array", name)
		}
		return true, nil
	}
	_, err = l.json.Token() // the closing brace
	return false, l.explain(err)
}

// next reads the next element. It returns io.EOF after the last one.
func (l *jsonList) next() error {
	l.bound.rowStart = l.json.InputOffset()
	if !l.json.More() {
		if _, err := l.json.Token(); err != nil { // the closing bracket
			return l.explain(err)
		}
		l.ended = true
		return io.EOF
	}
	err := l.decode()
	if err == nil {
		l.count++
	}
	return err
}

// end reads what follows the array. It returns io.EOF if that is valid.
func (l *jsonList) end() error {
	if !l.whole {
		again, err := l.members()
		if again {
			err = fmt.Errorf("there are two members %q: want one array", l.name)
		}
		if err != nil {
			return err
		}
	}
	l.bound.rowStart = l.json.InputOffset()
	if _, err := l.json.Token(); err != io.EOF {
		return errors.New("there is more after the end of its JSON: want one text of JSON")
	}
	return io.EOF
}

// eachMember passes the members of a valid object to member. More than most are an error.
func eachMember(object []byte, most int, what string, member func(name string, value []byte) error) error {
	rest := trimSpace(object[1:])
	for n := 0; rest[0] != '}'; n++ {
		if n == most {
			return fmt.Errorf("more than %d %s: want at most as many", most, what)
		}
		end := valueEnd(rest)
		name := string(rest[1 : end-1])
		if strings.Contains(name, `\`) {
			_ = json.Unmarshal(rest[:end], &name) // it is valid
		}
		rest = trimSpace(rest[end:])
		rest = trimSpace(rest[1:]) // after the colon
		end = valueEnd(rest)
		if err := member(name, rest[:end]); err != nil {
			return err
		}
		if rest = trimSpace(rest[end:]); rest[0] == ',' {
			rest = trimSpace(rest[1:])
		}
	}
	return nil
}

// trimSpace returns b without the white space of JSON at its beginning. It is called for each number: bytes.TrimLeft made a set of bytes for each.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// valueEnd returns the length of the value at the beginning of b, which is a part of valid JSON.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			if end := bytes.IndexAny(b[i:], ",:]} \t\r\n"); end > 0 {
				return i + end
			}
			return len(b)
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
}

// quoteJSON returns the beginning of a value, for error messages.
func quoteJSON(raw []byte) string {
	var s string
	switch {
	case len(raw) == 0:
		return "missing"
	case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
		return fmt.Sprintf("%.40q", s)
	}
	return fmt.Sprintf("%.40q", compact(raw))
}

// compact returns a value without white space, unless it is long.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	if len(raw) < 1000 && json.Compact(&b, raw) == nil {
		return b.Bytes()
	}
	return raw
}
