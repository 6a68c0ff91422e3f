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
var advisoriesQuery = fmt.Sprintf(`SELECT %s, a.kind, a.cause, a.issued, a.valid_from, a.valid_until, a.withdrawn
	FROM limnomap.advisories AS a LEFT JOIN limnomap.lakes AS l ON l.key = a.lake LIMIT %d`, advisoryTexts, maxAdvisories+1)

func (s *common) Advisories(ctx context.Context) (all []data.Advisory, rev data.Revision, err error) {
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
	all, err := collect(ctx, q, scan, advisoriesQuery)
	if err == nil && len(all) > maxAdvisories {
		return nil, errManyAdvisories
	}
	return all, err
}

// scanAdvisory scans a row of advisoriesQuery. The caller checks everything but the types of the columns.
func scanAdvisory(row rowScanner) (a data.Advisory, err error) {
	var kind, cause int64
	var issued, from, until, withdrawn sql.NullInt64
	err = row.Scan(textColumn[data.AdvisoryID]{&a.ID, "id", maxIDBytes}, textColumn[data.LakeID]{&a.LakeID, "lake_id", maxIDBytes},
		textColumn[string]{&a.Issuer, "issuer", maxTextBytes}, textColumn[string]{&a.TextEN, "text_en", maxAdvisoryTextBytes},
		textColumn[string]{&a.TextDE, "text_de", maxAdvisoryTextBytes}, textColumn[string]{&a.URL, "url", maxURLBytes},
		&kind, &cause, &issued, &from, &until, &withdrawn)
	a.Kind, a.Cause = data.AdvisoryKind(kind), data.Cause(cause)
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
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (id) DO NOTHING`
	// The kept columns are the last four. A statement that is issued again after it was withdrawn is in force again.
	keptAdvisory = `text_en = CASE WHEN $13 THEN text_en ELSE $9 END, text_de = CASE WHEN $14 THEN text_de ELSE $10 END,
			url = CASE WHEN $15 THEN url ELSE $11 END, withdrawn = CASE WHEN NOT $16 THEN $12 WHEN withdrawn < $6 THEN NULL ELSE withdrawn END`
	updateAdvisorySQL = `UPDATE limnomap.advisories SET kind = $3, cause = $4, issued = $6, valid_from = $7,
			valid_until = $8, ` + keptAdvisory + differentAdvisory + ` AND lake = $2 AND issuer = $5`
	// The parameters are an id, a lake and an issuer.
	otherAdvisorySQL   = `SELECT count(*) FROM limnomap.advisories WHERE id = $1 AND (lake <> $2 OR issuer <> $3)`
	advisoryDiffersSQL = `SELECT count(*) FROM limnomap.advisories` + differentAdvisory
	differentAdvisory  = ` WHERE id = $1 AND (lake <> $2 OR kind <> $3 OR cause <> $4 OR issuer <> $5 OR issued <> $6 OR valid_from <> $7
			OR valid_until IS DISTINCT FROM $8 OR NOT $13 AND text_en <> $9 OR NOT $14 AND text_de <> $10 OR NOT $15 AND url <> $11
			OR NOT $16 AND withdrawn IS DISTINCT FROM $12 OR $16 AND withdrawn < $6)`
	insertAdvisoryParameters = 12
)

// put writes a batch. lakeKey returns the number of a lake, or false if it is not stored. changed reports whether anything was written,
// also with an error.
func (im *advisoryImport) put(ctx context.Context, q querier, lakeKey func(context.Context, data.LakeID) (int64, bool, error),
	statements []data.Advisory, keep AdvisoryColumns) (changes []Change, changed bool, err error) {
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
			changes[i], err = compareAdvisory(ctx, q, advisoryArgs(a, key, keep), wasOther)
		default:
			changes[i], err = writeAdvisory(ctx, q, advisoryArgs(a, key, keep))
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

func advisoryArgs(a *data.Advisory, key int64, keep AdvisoryColumns) []any {
	return []any{string(a.ID), key, int64(a.Kind), int64(a.Cause), a.Issuer, a.Issued.Unix(), a.ValidFrom.Unix(), unixOrNull(a.ValidUntil),
		a.TextEN, a.TextDE, a.URL, unixOrNull(a.Withdrawn), keep.TextEN, keep.TextDE, keep.URL, keep.Withdrawn}
}

func writeAdvisory(ctx context.Context, q querier, args []any) (Change, error) {
	if n, err := q.exec(ctx, insertAdvisorySQL, args[:insertAdvisoryParameters]...); err != nil || n > 0 {
		return Added, err
	}
	if n, err := q.exec(ctx, updateAdvisorySQL, args...); err != nil || n > 0 {
		return Changed, err
	}
	return otherAdvisory(ctx, q, args)
}

// otherAdvisory returns OtherStatement if the id is stored for another lake or issuer, otherwise Unchanged.
func otherAdvisory(ctx context.Context, q querier, args []any) (Change, error) {
	var n int
	if err := q.queryRow(ctx, otherAdvisorySQL, args[0], args[1], args[4]).Scan(&n); err != nil || n == 0 {
		return Unchanged, err
	}
	return OtherStatement, nil
}

// compareAdvisory compares a row whose id is repeated with the stored one, and writes nothing. wasOther is whether the first row with
// the id was OtherStatement.
func compareAdvisory(ctx context.Context, q querier, args []any, wasOther bool) (Change, error) {
	if wasOther {
		if c, err := otherAdvisory(ctx, q, args); err != nil || c == OtherStatement {
			return c, err
		}
	}
	var n int
	if err := q.queryRow(ctx, advisoryDiffersSQL, args...).Scan(&n); err != nil || n == 0 {
		return Unchanged, err
	}
	return Contradicts, nil
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

func (t *sqliteTx) Advisories(ctx context.Context) ([]data.Advisory, error) {
	all, err := readAdvisories(ctx, sqliteQuerier{db: t.tx})
	return all, t.fail(ctx, err, "read official statements")
}

func (t *sqliteTx) PutAdvisories(ctx context.Context, statements []data.Advisory, keep AdvisoryColumns) ([]Change, error) {
	err := t.prepare(ctx, map[string]**sql.Stmt{lakeKeySQL: &t.lakeKey})
	if err != nil {
		return nil, t.fail(ctx, err, "write official statements")
	}
	lakeKey := func(ctx context.Context, id data.LakeID) (int64, bool, error) {
		key, err := t.key(ctx, id)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, false, nil
		}
		return key, err == nil, err
	}
	changes, changed, err := t.advisories.put(ctx, sqliteQuerier{db: t.tx}, lakeKey, statements, keep)
	t.changed, t.repeated = t.changed || changed, append(t.repeated[:0], t.advisories.repeated...)
	if beyondBounds(err) {
		t.err = err
		return nil, err
	}
	return changes, t.fail(ctx, err, "write official statements")
}

func (t *postgresTx) Advisories(ctx context.Context) ([]data.Advisory, error) {
	all, err := readAdvisories(ctx, postgresQuerier{db: t.tx})
	return all, t.fail(ctx, err, "read official statements")
}

func (t *postgresTx) PutAdvisories(ctx context.Context, statements []data.Advisory, keep AdvisoryColumns) ([]Change, error) {
	if err := t.findKeys(ctx, len(statements), func(i int) data.LakeID { return statements[i].LakeID }); err != nil {
		return nil, t.fail(ctx, err, "write official statements")
	}
	lakeKey := func(_ context.Context, id data.LakeID) (int64, bool, error) {
		key, known := t.keys[id]
		return int64(key), known, nil
	}
	changes, changed, err := t.advisories.put(ctx, postgresQuerier{db: t.tx}, lakeKey, statements, keep)
	t.changed, t.repeated = t.changed || changed, append(t.repeated[:0], t.advisories.repeated...)
	if beyondBounds(err) {
		t.err = err
		return nil, err
	}
	return changes, t.fail(ctx, err, "write official statements")
}
