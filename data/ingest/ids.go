package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"limnomap/data"
	"limnomap/data/fold"
)

// maxMadeIDs bounds the names from which one import makes ids, and the memory for them, about 150 bytes each. It is above the
// number of lakes of at least 0.1 km² on Earth, 1.4 million.
const maxMadeIDs = 2_000_000

// An idMaker makes ids from names. It remembers the name of each id, since two lakes must not get the same id.
type idMaker struct {
	names map[data.LakeID]string // in NFC
}

// idOfName returns a name in small letters, digits and underscores: accents are dropped, and each run of other characters
// becomes one underscore. The same name gives the same id in every file and every import. Scripts other than Latin leave
// nothing, so the result may be empty; it may also be too long for an id.
func idOfName(name string) string {
	var id []byte
	gap := false
	for _, c := range fold.Append(nil, name, fold.Bare) {
		if c == ' ' || c >= utf8.RuneSelf {
			gap = true
			continue
		}
		if gap && len(id) > 0 {
			id = append(id, '_')
		}
		gap = false
		id = append(id, c)
	}
	return string(id)
}

var errManyNames = fmt.Errorf("one import can make ids from at most %d names: want a column of ids", maxMadeIDs)

// id returns the id of a name, or an error that has both names if another name has the same id.
func (m *idMaker) id(name string) (data.LakeID, error) {
	id, err := data.ParseLakeID(idOfName(name))
	if err != nil {
		return "", fmt.Errorf("cannot make an id from the name %.80q: want 1 to 64 Latin letters, digits and spaces, or a column of ids", name)
	}
	name = norm.NFC.String(name)
	switch first, ok := m.names[id]; {
	case !ok && len(m.names) == maxMadeIDs:
		return "", errManyNames
	case !ok:
		m.names[data.LakeID(strings.Clone(string(id)))] = strings.Clone(name)
	case first != name:
		return "", fmt.Errorf("the name %.80q gives the id %s, which %.80q already has: want names that differ in letters or digits, or a column of ids", name, id, first)
	}
	return id, nil
}

// A scan returns the lakes and observations of a database: see [snapshot.Source].
type scan func(context.Context, func(data.Lake) error, func(data.Observation) error) (data.Revision, error)

// eachLake calls fn with each lake of a database.
func eachLake(ctx context.Context, scan scan, fn func(data.Lake) error) error {
	enough := errors.New("all lakes are known") // they are before the first observation
	if _, err := scan(ctx, fn, func(data.Observation) error { return enough }); !errors.Is(err, enough) {
		return err
	}
	return nil
}

// StoredLakes returns the lakes in a store, without their outlines.
func StoredLakes(ctx context.Context, s Store) (lakes []data.Lake, err error) {
	return lakes, eachLake(ctx, s.Scan, func(l data.Lake) error {
		l.Outline = ""
		lakes = append(lakes, l)
		return nil
	})
}

// newIDMaker returns an idMaker that knows the lakes in a store: their ids belong to their names, however they were made.
func newIDMaker(ctx context.Context, s Store) (*idMaker, error) {
	m := &idMaker{names: make(map[data.LakeID]string)}
	return m, eachLake(ctx, s.Scan, func(l data.Lake) error {
		if len(m.names) == maxMadeIDs {
			return errManyNames
		}
		m.names[l.ID] = norm.NFC.String(l.Name)
		return nil
	})
}
