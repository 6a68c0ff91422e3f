package ingest

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxFeatureBytes bounds the time for a feature: an outline of outline.MaxPoints takes 20 MB with 16 digits for
	// each number and each number indented on its own line.
	maxFeatureBytes = 32 << 20
	// maxTextBytes bounds the memory for one text or number of a feature, with the white space before it. The largest one
	// is an outline in base64, whose points take at most 10 bytes each, and those of coarser zooms three times as many
	// together: 10.7 MB.
	maxTextBytes = 11 << 20
	// maxKeptBytes bounds the values that are kept, except for an outline: they are no longer than a row of a table.
	maxKeptBytes = maxRowBytes
	// maxMembers bounds the members of the collection, of a feature and of a geometry, and maxProperties those of a
	// feature's properties: data of OpenStreetMap have up to some hundred. The names of the properties take at most
	// maxKeptBytes together.
	maxMembers    = 100
	maxProperties = 1000
)

var (
	errLongFeature = fmt.Errorf("does not end within %d bytes", maxFeatureBytes)
	errLongText    = fmt.Errorf("a text, a number or white space does not end within %d bytes", maxTextBytes)
	errEarlyEnd    = errors.New("the file ends before the end of its FeatureCollection: is it complete?")
)

// A jsonReader reads a file token by token. Memory holds one of them, and what the caller keeps.
type jsonReader struct {
	*jsontext.Decoder
	r       io.Reader
	most    int64 // bytes of a member or an item
	tooLong error // the error for a longer one
	read    int64 // bytes read
	start   int64 // where the current member or item starts
	name    []byte
	notUTF8 bool // whether a text was not UTF-8; the caller resets it
}

// newJSONReader returns a reader of a file whose items, such as features, have at most that many bytes; tooLong is the error for a
// longer one.
func newJSONReader(r io.Reader, most int64, tooLong error) *jsonReader {
	j := &jsonReader{r: r, most: most, tooLong: tooLong}
	// Invalid UTF-8 is an error of one item. A name that is repeated is not kept to be compared.
	j.Decoder = jsontext.NewDecoder(jsonSource{j}, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	return j
}

// A jsonSource passes the file on to the decoder, as long as the current token and item are not too long. It may pass on
// as much more as the decoder's buffer holds.
type jsonSource struct{ *jsonReader }

func (s jsonSource) Read(p []byte) (int, error) {
	switch {
	case s.read-s.start > s.most:
		return 0, s.tooLong
	case s.read-s.InputOffset() > maxTextBytes:
		return 0, errLongText
	}
	n, err := s.r.Read(p[:min(len(p), maxRowBytes)]) // so that the check above comes before the buffer has grown much
	s.read += int64(n)
	return n, err
}

// begin begins a member or an item.
func (j *jsonReader) begin() { j.start, j.notUTF8 = j.InputOffset(), false }

// next reads the next token. The raw bytes of a text or a number are valid until the following call.
func (j *jsonReader) next() (kind jsontext.Kind, raw jsontext.Value, err error) {
	switch kind = j.PeekKind(); kind {
	case '"', '0':
		if raw, err = j.ReadValue(); kind == '"' && err == nil && !utf8.Valid(raw) {
			j.notUTF8 = true
		}
	default:
		_, err = j.ReadToken()
	}
	return kind, raw, j.explain(err)
}

// explain replaces errors that the decoder wraps, and that of an early end, after which items may be missing.
func (j *jsonReader) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, j.tooLong):
		return j.tooLong
	case errors.Is(err, errLongText):
		return errLongText
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errEarlyEnd
	}
	return err
}

// object reads the members of an object after its brace: it passes each name, valid until the next one, to member, which must
// read the value. More than most members are an error.
func (j *jsonReader) object(most int, what string, member func(name []byte) error) error {
	for n := 0; ; n++ {
		kind, raw, err := j.next()
		switch {
		case err != nil:
			return err
		case kind == '}':
			return nil
		case n == most:
			return fmt.Errorf("more than %d %s: want at most as many", most, what)
		}
		j.name, _ = jsontext.AppendUnquote(j.name[:0], raw) // it is a text, and may only be not UTF-8
		if err := member(j.name); err != nil {
			return err
		}
	}
}

// skip reads a value, and keeps nothing of it.
func (j *jsonReader) skip() error { _, err := j.value(nil, 0); return err }

// value reads a value of any kind, and appends its first bytes to b without white space. A text or a number is appended in
// full if it has at most that many bytes.
func (j *jsonReader) value(b []byte, most int) ([]byte, error) {
	from, depth := len(b), j.StackDepth()
	for {
		parent, n := j.StackIndex(j.StackDepth())
		kind, raw, err := j.next()
		if err != nil {
			return b, err
		}
		if kept := len(b) - from; kept < most {
			switch {
			case kept == 0 || n == 0 || kind == '}' || kind == ']':
			case parent == '{' && n%2 == 1:
				b = append(b, ':')
			default:
				b = append(b, ',')
			}
			switch kind {
			case '"', '0':
				b = append(b, raw[:min(len(raw), most)]...)
			default:
				b = append(b, kind.String()...)
			}
		}
		if j.StackDepth() <= depth {
			return b, nil
		}
	}
}
