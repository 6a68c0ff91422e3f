package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"limnomap/data"
	"limnomap/data/store"
)

// maxMadeIDs bounds the names that one import makes ids of, and so the memory for them, about 150 bytes each: more than
// there are lakes of 0.1 km² on earth, 1.4 million.
const maxMadeIDs = 2_000_000

// An idMaker makes ids of names, and remembers which name has which: two lakes must not become one.
type idMaker struct {
	names map[data.LakeID]string // in NFC
}

// letters are those of Latin script that no decomposition takes apart, as their languages write them in ASCII.
var letters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ħ': "h", 'ı': "i", 'ŧ': "t", 'ŋ': "n", 'ĸ': "k",
}

// idOfName returns a name in small letters, digits and underscores: accents are dropped, and each run of anything else is
// one underscore. The same name gives the same id in every file and every import. Of scripts other than Latin nothing is
// left, so that an id may be empty, or too long to be one.
func idOfName(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(name) {
		r = unicode.ToLower(r)
		text, special := letters[r]
		switch {
		case unicode.Is(unicode.Mn, r): // an accent
			continue
		case special:
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			text = string(r)
		default:
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		b.WriteString(text)
	}
	return b.String()
}

var errManyNames = fmt.Errorf("ids are made of at most %d names in one import: want a column of ids", maxMadeIDs)

// id returns the id of a name. An error names both names if two have the same.
func (m *idMaker) id(name string) (data.LakeID, error) {
	id, err := data.ParseLakeID(idOfName(name))
	if err != nil {
		return "", fmt.Errorf("of the name %.80q no id can be made: want 1 to 64 Latin letters, digits and gaps, or a column of ids", name)
	}
	name = norm.NFC.String(name)
	switch first, ok := m.names[id]; {
	case !ok && len(m.names) == maxMadeIDs:
		return "", errManyNames
	case !ok:
		m.names[data.LakeID(strings.Clone(string(id)))] = strings.Clone(name)
	case first != name:
		return "", fmt.Errorf("of the name %.80q comes the id %s, which %.80q has already: want names that differ in letters or digits, or a column of ids", name, id, first)
	}
	return id, nil
}

// errScanned ends a scan after the lakes.
var errScanned = errors.New("all lakes are known")

// newIDMaker knows the names of the lakes in a store. Whatever their ids were made of, only their own names have them.
func newIDMaker(ctx context.Context, s store.Store) (*idMaker, error) {
	m := &idMaker{names: make(map[data.LakeID]string)}
	_, err := s.Scan(ctx, func(l data.Lake) error {
		if len(m.names) == maxMadeIDs {
			return errManyNames
		}
		m.names[l.ID] = norm.NFC.String(l.Name)
		return nil
	}, func(data.Observation) error { return errScanned })
	if err != nil && !errors.Is(err, errScanned) {
		return nil, err
	}
	return m, nil
}
