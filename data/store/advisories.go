package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"limnomap/data"
)

// AdvisoryColumns are the columns of official statements that an import may lack. Without valid_until a statement would have no end,
// so an import cannot lack it.
type AdvisoryColumns struct {
	TextEN, TextDE, URL, Withdrawn bool
}

// The bounds of what a server holds, which is all statements. An import beyond them is an error, so that no server meets one.
const (
	maxAdvisories     = 100_000
	maxAdvisoryMemory = 64 << 20 // bytes of all texts and addresses together
)

var (
	errManyAdvisories = fmt.Errorf("more than %d official statements: want at most as many in a database, including those that are over", maxAdvisories)
	errLongAdvisories = fmt.Errorf("the texts of all official statements in the database have more than %d bytes together: want shorter ones", maxAdvisoryMemory)
)

// The longest values of a statement that are read, in bytes.
const (
	maxAdvisoryTextBytes = 16 << 10 // more than any 4,000 characters
	maxURLBytes          = 2 << 10
)

// advisoryTexts are the texts of a statement, whose lake is l: with NULL for one that is too long.
var advisoryTexts = strings.Join([]string{atMost("a.id", maxIDBytes), atMost("l.id", maxIDBytes), atMost("a.issuer", maxTextBytes),
	atMost("a.text_en", maxAdvisoryTextBytes), atMost("a.text_de", maxAdvisoryTextBytes), atMost("a.url", maxURLBytes)}, ", ")

// A statement whose lake does not exist has no lake's id, which is an error.
var advisorySQL = fmt.Sprintf(`SELECT %s, a.kind, a.cause, a.issued, a.valid_from, a.valid_until, a.withdrawn
	FROM limnomap.advisories AS a LEFT JOIN limnomap.lakes AS l ON l.key = a.lake`, advisoryTexts)

func (s *Store) Advisories(ctx context.Context) (all []data.Advisory, rev data.Revision, err error) {
	err = s.db.snapshot(ctx, "read official statements", func(ctx context.Context, q querier) (err error) {
		if rev, err = s.revision(ctx, q); err != nil {
			return err
		}
		all, err = readAdvisories(ctx, q)
		return err
	})
	if err != nil {
		return nil, data.Revision{}, err
	}
	return all, rev, nil
}

// readAdvisories returns all statements, in no order. It is an error if there are more than a server holds.
func readAdvisories(ctx context.Context, q querier) ([]data.Advisory, error) {
	size := 0
	scan := func(row rowScanner) (data.Advisory, error) {
		a, err := scanAdvisory(row)
		if size += len(a.Issuer) + len(a.TextEN) + len(a.TextDE) + len(a.URL); err == nil && size > maxAdvisoryMemory {
			err = errLongAdvisories
		}
		return a, err
	}
	all, err := collect(ctx, q, scan, fmt.Sprintf("%s LIMIT %d", advisorySQL, maxAdvisories+1))
	if err == nil && len(all) > maxAdvisories {
		return nil, errManyAdvisories
	}
	return all, err
}

// scanAdvisory scans a row of advisorySQL. The caller checks everything but the types of the columns.
func scanAdvisory(row rowScanner) (a data.Advisory, err error) {
	var kind, cause int64
	var issued, from, until, withdrawn sql.NullInt64
	err = row.Scan(textColumn[data.AdvisoryID]{&a.ID, "id", maxIDBytes}, textColumn[data.LakeID]{&a.LakeID, "lake_id", maxIDBytes},
		textColumn[string]{&a.Issuer, "issuer", maxTextBytes}, textColumn[string]{&a.TextEN, "text_en", maxAdvisoryTextBytes},
		textColumn[string]{&a.TextDE, "text_de", maxAdvisoryTextBytes}, textColumn[string]{&a.URL, "url", maxURLBytes},
		&kind, &cause, &issued, &from, &until, &withdrawn)
	a.Kind, a.Cause, a.URL = data.AdvisoryKind(kind), data.Cause(cause), data.StoredURL(a.URL)
	if err == nil && (int64(a.Kind) != kind || int64(a.Cause) != cause) {
		err = fmt.Errorf("a number is out of range: kind %d, cause %d", kind, cause)
	}
	for _, t := range []sql.NullInt64{issued, from, until, withdrawn} {
		if err == nil && t.Valid && (t.Int64 < minTime || t.Int64 > maxTime) {
			err = fmt.Errorf("a time is %d seconds after 1970: want one of the years 0 to 9999", t.Int64)
		}
	}
	if err != nil {
		return a, fmt.Errorf("official statement %.80q: %w", a.ID, err)
	}
	a.Issued, a.ValidFrom, a.ValidUntil, a.Withdrawn = timeOrZero(issued), timeOrZero(from), timeOrZero(until), timeOrZero(withdrawn)
	return a, nil
}

// An advisoryImport writes the statements of one import, row by row: there are some thousands at most.
type advisoryImport struct {
	// ids are of the rows so far of known lakes, at most maxAdvisories and a batch. The value is whether the first row of an id was
	// OtherStatement.
	ids      map[data.AdvisoryID]bool
	repeated []int // rows of the last batch
}

const (
	insertAdvisorySQL = `INSERT INTO limnomap.advisories (id, lake, kind, cause, issuer, issued, valid_from, valid_until, text_en, text_de, url, withdrawn)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	updateAdvisorySQL = `UPDATE limnomap.advisories SET lake = $2, kind = $3, cause = $4, issuer = $5, issued = $6, valid_from = $7,
		valid_until = $8, text_en = $9, text_de = $10, url = $11, withdrawn = $12 WHERE id = $1`
)

// put writes a batch. lakeKey returns the number of a lake, or false if it is not stored. changed reports whether anything was written,
// also with an error.
func (im *advisoryImport) put(ctx context.Context, q querier, lakeKey func(context.Context, data.LakeID) (int64, bool, error),
	record *recorder, statements []data.Advisory, keep AdvisoryColumns) (changes []Change, changed bool, err error) {
	if im.ids == nil {
		im.ids = make(map[data.AdvisoryID]bool)
	}
	im.repeated = im.repeated[:0]
	changes = make([]Change, len(statements))
	for i := range statements {
		a := &statements[i]
		key, known, err := lakeKey(ctx, a.LakeID)
		wasOther, repeated := im.ids[a.ID]
		switch {
		case err != nil:
		case !known:
			changes[i] = UnknownLake
		case repeated:
			im.repeated = append(im.repeated, i)
			_, _, changes[i], err = mergeStored(ctx, q, a, keep)
			if changes[i] = ofRepeated(changes[i]); changes[i] == OtherStatement && !wasOther {
				changes[i] = Contradicts
			}
		default:
			changes[i], err = writeAdvisory(ctx, q, record, key, a, keep)
			// A copy, because it may be a substring of a whole row.
			im.ids[data.AdvisoryID(strings.Clone(string(a.ID)))] = changes[i] == OtherStatement
			changed = changed || changes[i] == Added || changes[i] == Changed
		}
		if err != nil {
			return nil, changed, fmt.Errorf("statement %.80q: %w", a.ID, err)
		}
	}
	if changed {
		err = boundAdvisories(ctx, q)
	}
	return changes, changed, err
}

// mergeStored merges a statement with the stored one of its id, and returns that too: nil and Added if there is none.
func mergeStored(ctx context.Context, q querier, a *data.Advisory, keep AdvisoryColumns) (merged data.Advisory, before *data.Advisory, change Change, err error) {
	stored, err := collect(ctx, q, scanAdvisory, advisorySQL+" WHERE a.id = $1", string(a.ID))
	if err != nil || len(stored) == 0 {
		return *a, nil, Added, err
	}
	merged, change = mergeAdvisories(&stored[0], a, keep)
	return merged, &stored[0], change, nil
}

// writeAdvisory writes a statement of the lake with that number.
func writeAdvisory(ctx context.Context, q querier, record *recorder, lake int64, a *data.Advisory, keep AdvisoryColumns) (Change, error) {
	merged, before, change, err := mergeStored(ctx, q, a, keep)
	statement := map[Change]string{Added: insertAdvisorySQL, Changed: updateAdvisorySQL}[change]
	if err != nil || statement == "" {
		return change, err
	}
	record.advisory(a.ID, lake, before)
	_, err = q.exec(ctx, statement, advisoryArgs(lake, &merged)...)
	return change, err
}

// advisoryArgs are the parameters of insertAdvisorySQL and updateAdvisorySQL.
func advisoryArgs(lake int64, a *data.Advisory) []any {
	return []any{string(a.ID), lake, int64(a.Kind), int64(a.Cause), a.Issuer, a.Issued.Unix(), a.ValidFrom.Unix(),
		unixOrNull(a.ValidUntil), a.TextEN, a.TextDE, a.URL, unixOrNull(a.Withdrawn)}
}

// boundAdvisories returns an error if the database holds more than a server does.
func boundAdvisories(ctx context.Context, q querier) error {
	var rows, size int64
	err := q.queryRow(ctx, `SELECT count(*), coalesce(sum(octet_length(issuer) + octet_length(text_en) + octet_length(text_de) + octet_length(url)), 0)
		FROM limnomap.advisories`).Scan(&rows, &size)
	switch {
	case err != nil:
		return err
	case rows > maxAdvisories:
		return errManyAdvisories
	case size > maxAdvisoryMemory:
		return errLongAdvisories
	}
	return nil
}

// beyondBounds reports whether err is about the statements to store, not a failure of the database.
func beyondBounds(err error) bool {
	return errors.Is(err, errManyAdvisories) || errors.Is(err, errLongAdvisories)
}
