package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"limnomap/data"
	"limnomap/data/outline"
)

const (
	// partBytes is about how much of what an import replaced is held in memory, compressed, before it is written.
	partBytes = 1 << 20
	// partRows bounds the rows of a part, some 150 bytes each when an import is undone.
	partRows = 1 << 17
	// maxRowBytes bounds the JSON of a row: a lake with its outline.
	maxRowBytes = 2*outline.MaxBytes + 1<<16
	// maxUndoBytes bounds what is stored of all imports together to undo them: the oldest is dropped first, and what a larger import replaced is not stored.
	// An added observation takes some 3 bytes, a changed one 20.
	maxUndoBytes = 64 << 20
	// maxImports bounds the list of imports.
	maxImports = 1000
)

var (
	ErrNoImport = errors.New("there is no such import")
	// ErrNoUndo says that an import cannot be undone, or not before others.
	ErrNoUndo = errors.New("the import cannot be undone")
)

// An ImportFile is a file of an import, or what a person decided, which is imported like a file.
type ImportFile struct {
	Name       string            `json:"name"`
	SHA256     string            `json:"sha256"`
	Statements []StatementChange `json:"statements,omitempty"` // of a decision
}

// An ImportInfo says where an import is from.
type ImportInfo struct {
	By    string
	Files []ImportFile
}

// An ImportRecord is what an import did. Imports that changed nothing have none.
type ImportRecord struct {
	Number int64
	At     time.Time
	ImportInfo
	// About are what it changed: "lakes", "statements", and "observations of " each source.
	About                              []string
	Added, Changed, Unchanged, Refused int64
	UndoneAt                           time.Time // zero: it was not undone
	Undo                               bool      // whether what it replaced is stored
	WithoutPixels                      int64     // only of Undo: restored values of satellites in a database with pixels, which are not stored to undo an import
}

// A replacedRow is a row that an import added, or what it replaced. One of the three keys is set, and what belongs to it, if there was a row.
type replacedRow struct {
	Observation *[4]int64         `json:"o,omitempty"` // lake, date, type and source
	Was         *replacedValues   `json:"w,omitempty"`
	Lake        int64             `json:"l,omitempty"`
	WasLake     *replacedLake     `json:"x,omitempty"`
	Advisory    data.AdvisoryID   `json:"a,omitempty"`
	WasAdvisory *replacedAdvisory `json:"y,omitempty"`
}

type replacedValues struct {
	Chl        *int64   `json:"c,omitempty"`
	Level      *int64   `json:"l,omitempty"`
	Density    *float64 `json:"d,omitempty"`
	MeasuredAt *int64   `json:"m,omitempty"`
	Details    *string  `json:"e,omitempty"`
}

type replacedLake struct {
	ID, ExternalID, Name, Region string
	Lon, Lat, AreaKM2            float64
	Outline                      []byte
	WaterID                      string `json:",omitempty"`
}

type replacedAdvisory struct {
	Lake int64
	data.Advisory
}

// aboutStatements is what [ImportRecord.About] has for official statements.
const aboutStatements = "statements"

// A recorder stores what an import replaces, and counts what it does.
type recorder struct {
	info                               ImportInfo
	added, changed, unchanged, refused int64
	lakes, statements                  bool
	sources                            map[int64]bool

	content      bytes.Buffer
	compressed   *gzip.Writer // made once: it is large
	rows         int          // written to it since the last flush
	key, last    [4]int64     // of the observation that is added, and of the last one among them without former values
	line         []byte
	number       int64 // of the import; 0 before the first part
	parts, bytes int64
	tooLarge     bool
}

// count counts the results of rows.
func (r *recorder) count(changes []Change) {
	for _, c := range changes {
		switch c {
		case Added:
			r.added++
		case Changed:
			r.changed++
		case Unchanged:
			r.unchanged++
		default:
			r.refused++
		}
	}
}

// add adds a row: as a zero and the differences of its key to that of the observation before it if it is an observation without former values, of which
// imports have millions; otherwise as the length of its JSON, and that.
func (r *recorder) add(row *replacedRow) {
	if r.tooLarge {
		return
	}
	switch {
	case r.compressed == nil:
		r.compressed, _ = gzip.NewWriterLevel(&r.content, gzip.BestSpeed) // its only error is of the level
	case r.rows == 0:
		r.compressed.Reset(&r.content)
	}
	r.rows++
	if row.Observation != nil && row.Was == nil {
		r.line = append(r.line[:0], 0)
		for i, n := range row.Observation {
			r.line = binary.AppendVarint(r.line, n-r.last[i])
		}
		r.last = *row.Observation
		r.compressed.Write(r.line) // into memory
		return
	}
	content, err := json.Marshal(row)
	if err != nil { // no row has a value that JSON cannot have
		r.tooLarge = true
		return
	}
	r.compressed.Write(append(binary.AppendUvarint(r.line[:0], uint64(len(content))), content...))
}

// observation adds an observation that the import adds, or that it changes from what is stored.
func (r *recorder) observation(lake int64, date data.Date, dataType data.DataType, source int64, stored *observationRow) {
	if r.sources == nil {
		r.sources = make(map[int64]bool)
	}
	r.sources[source] = true
	r.key = [4]int64{lake, int64(date), int64(dataType), source}
	row := replacedRow{Observation: &r.key}
	if stored != nil {
		row.Was = &replacedValues{Chl: orNil(stored.chl.Int64, stored.chl.Valid), Level: orNil(stored.level.Int64, stored.level.Valid),
			Density: orNil(stored.density.Float64, stored.density.Valid), MeasuredAt: orNil(stored.measuredAt.Int64, stored.measuredAt.Valid),
			Details: orNil(string(stored.details), stored.details != nil)}
	}
	r.add(&row)
}

func orNil[T any](v T, known bool) *T {
	if !known {
		return nil
	}
	return &v
}

// lake adds a lake that the import adds, or that it changes from what is stored.
func (r *recorder) lake(key int64, stored *data.Lake) {
	r.lakes = true
	row := replacedRow{Lake: key}
	if l := stored; l != nil {
		row.WasLake = &replacedLake{string(l.ID), l.ExternalID, l.Name, l.Region, l.Point[0], l.Point[1], l.AreaKM2, []byte(l.Outline), l.WaterID}
	}
	r.add(&row)
}

// advisory adds a statement that the import adds, or that it changes from what is stored.
func (r *recorder) advisory(id data.AdvisoryID, lake int64, stored *data.Advisory) {
	r.statements = true
	row := replacedRow{Advisory: id}
	if stored != nil {
		row.WasAdvisory = &replacedAdvisory{lake, *stored}
	}
	r.add(&row)
}

// flush writes what was added, if it is much or last is true.
func (r *recorder) flush(ctx context.Context, q querier, last bool) error {
	if r.rows == 0 || r.content.Len() < partBytes && r.rows < partRows && !last {
		return nil
	}
	err := r.compressed.Close()
	r.rows, r.last = 0, [4]int64{}
	if err != nil || r.tooLarge {
		return err
	}
	if err := r.takeNumber(ctx, q); err != nil {
		return err
	}
	w := writer{ctx: ctx, q: q}
	if r.bytes += int64(r.content.Len()); r.bytes > maxUndoBytes {
		r.tooLarge = true
		w.exec("DELETE FROM limnomap.import_parts WHERE import = $1", r.number)
	} else {
		w.exec("INSERT INTO limnomap.import_parts (import, part, content) VALUES ($1, $2, $3)", r.number, r.parts, r.content.Bytes())
	}
	r.parts++
	r.content.Reset()
	return w.err
}

// takeNumber numbers the import.
func (r *recorder) takeNumber(ctx context.Context, q querier) error {
	if r.number > 0 {
		return nil
	}
	return q.queryRow(ctx, "SELECT coalesce(max(number), 0) + 1 FROM limnomap.imports").Scan(&r.number)
}

// finish stores the record of an import that changed something, and drops what is too much of older ones.
func (r *recorder) finish(ctx context.Context, q querier, now time.Time) error {
	if r.added+r.changed == 0 {
		return nil
	}
	err := r.takeNumber(ctx, q)
	if err == nil {
		err = r.flush(ctx, q, true)
	}
	if err != nil {
		return err
	}
	about, err := r.about(ctx, q)
	if err != nil {
		return err
	}
	files, err := json.Marshal(r.info.Files)
	if err != nil {
		return err
	}
	w := writer{ctx: ctx, q: q}
	w.exec("INSERT INTO limnomap.imports (number, at, author, files, about, added, changed, unchanged, refused) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
		r.number, now.Unix(), validText(r.info.By), validText(string(files)), about, r.added, r.changed, r.unchanged, r.refused)
	w.exec("DELETE FROM limnomap.imports WHERE number <= $1 AND files NOT LIKE $2", r.number-maxImports, decided)
	w.exec(`DELETE FROM limnomap.imports WHERE number <= $1 AND number <= coalesce((SELECT number FROM limnomap.imports WHERE files LIKE $2
		ORDER BY number DESC LIMIT 1 OFFSET $3), 0)`, r.number-maxImports, decided, maxDecisions)
	w.exec("DELETE FROM limnomap.import_parts WHERE import <= $1", r.number-maxImports)
	// What the newer imports have, together with each older one.
	w.exec(`DELETE FROM limnomap.import_parts WHERE import < (SELECT coalesce(max(p.import), 0) FROM (SELECT import,
		sum(sum(length(content))) OVER (ORDER BY import DESC) AS size FROM limnomap.import_parts GROUP BY import) AS p WHERE p.size > $1) + 1`, maxUndoBytes)
	return w.err
}

func (r *recorder) about(ctx context.Context, q querier) (string, error) {
	about := []string{}
	if r.lakes {
		about = append(about, "lakes")
	}
	if r.statements {
		about = append(about, aboutStatements)
	}
	if len(r.sources) > 0 {
		known, err := readSources(ctx, q)
		if err != nil {
			return "", err
		}
		for _, number := range slices.Sorted(maps.Keys(r.sources)) {
			source, err := known.of(number)
			if err != nil {
				return "", err
			}
			about = append(about, "observations of "+source.name)
		}
	}
	text, err := json.Marshal(about)
	return string(text), err
}

// Describe says where the import is from.
func (t *importTx) Describe(info ImportInfo) { t.record.info = info }

const importsSQL = `SELECT number, at, author, files, about, added, changed, unchanged, refused, undone_at,
	EXISTS (SELECT 1 FROM limnomap.import_parts AS p WHERE p.import = i.number) FROM limnomap.imports AS i`

func scanImport(row rowScanner) (r ImportRecord, err error) {
	var at int64
	var undone sql.NullInt64
	var files, about string
	if err := row.Scan(&r.Number, &at, &r.By, &files, &about, &r.Added, &r.Changed, &r.Unchanged, &r.Refused, &undone, &r.Undo); err != nil {
		return r, err
	}
	r.At = time.Unix(at, 0).UTC()
	if undone.Valid {
		r.UndoneAt = time.Unix(undone.Int64, 0).UTC()
	}
	if err := errors.Join(json.Unmarshal([]byte(files), &r.Files), json.Unmarshal([]byte(about), &r.About)); err != nil {
		return r, fmt.Errorf("import %d: %w", r.Number, err)
	}
	return r, nil
}

// Imports returns the newest imports, the newest first.
func (s *Store) Imports(ctx context.Context) ([]ImportRecord, error) {
	return list(ctx, s, "list the imports", scanImport, importsSQL+" ORDER BY number DESC")
}

// Undo takes an import back in one transaction: it deletes the rows that the import added, and restores those that it changed, as they were
// before. Number 0 is the last import that was not undone. It is an [ErrNoUndo] if a later import, which was not undone, is about the same, or
// if added lakes have observations or statements. A dry run changes nothing.
func (s *Store) Undo(ctx context.Context, number int64, dryRun bool) (record ImportRecord, err error) {
	err = s.db.update(ctx, "undo an import", func(q querier) error {
		w := writer{ctx: ctx, q: q}
		if w.exec(s.sql.lockImports); w.err != nil {
			return w.err
		}
		all, err := collect(ctx, q, scanImport, importsSQL+" ORDER BY number DESC")
		if err != nil {
			return err
		}
		if record, err = undoable(all, number); err != nil {
			return callerError{err}
		}
		// Forecasts that were made since then are of its values, and may be of lakes that it added.
		isStatements := len(record.About) == 1 && record.About[0] == aboutStatements
		if !isStatements && w.exec("DELETE FROM limnomap.forecasts WHERE issued >= $1", int64(data.DateOf(record.At))) > 0 {
			w.exec(countForecasts)
			w.exec("UPDATE limnomap.forecast_state SET changes = changes + 1")
		}
		if w.err != nil {
			return w.err
		}
		var withPixels bool
		if err := q.queryRow(ctx, "SELECT EXISTS (SELECT 1 FROM limnomap.pixel_masks)").Scan(&withPixels); err != nil {
			return err
		}
		satellite, err := s.restore(ctx, q, record.Number)
		if err != nil {
			return err
		}
		if withPixels {
			record.WithoutPixels = satellite
		}
		w.exec("UPDATE limnomap.imports SET undone_at = $1 WHERE number = $2", s.now().Unix(), record.Number)
		w.exec("DELETE FROM limnomap.import_parts WHERE import = $1", record.Number)
		switch {
		case w.err != nil:
			return w.err
		case dryRun:
			return callerError{errDryRun}
		}
		t := importTx{of: s, q: q, changed: true}
		return t.raise(ctx)
	})
	if errors.Is(err, errDryRun) {
		err = nil
	}
	return record, err
}

// undoable returns the import with that number if it can be undone. All imports are given, the newest first.
func undoable(all []ImportRecord, number int64) (ImportRecord, error) {
	later := make(map[string]int64) // the last import about it
	for i := range all {
		r := &all[i]
		if number == 0 && r.UndoneAt.IsZero() {
			number = r.Number
		}
		if r.Number != number {
			for _, about := range r.About {
				if r.UndoneAt.IsZero() && later[about] == 0 {
					later[about] = r.Number
				}
			}
			continue
		}
		switch {
		case !r.UndoneAt.IsZero():
			return *r, fmt.Errorf("%w: import %d is undone already", ErrNoUndo, number)
		case !r.Undo:
			return *r, fmt.Errorf("%w: what import %d replaced is not stored any more, or was too large, or something was deleted since", ErrNoUndo, number)
		}
		for _, about := range r.About {
			if n := later[about]; n != 0 {
				return *r, fmt.Errorf("%w: import %d is also about %s and came later; undo it first", ErrNoUndo, n, about)
			}
		}
		return *r, nil
	}
	if number == 0 {
		return ImportRecord{}, fmt.Errorf("%w: all are undone, or none is recorded", ErrNoImport)
	}
	return ImportRecord{}, fmt.Errorf("%w: %d", ErrNoImport, number)
}

// restore restores the rows of an import. It returns how many values of satellites there were before.
func (s *Store) restore(ctx context.Context, q querier, number int64) (satellite int64, err error) {
	var parts int64
	if err := q.queryRow(ctx, "SELECT count(*) FROM limnomap.import_parts WHERE import = $1", number).Scan(&parts); err != nil {
		return 0, err
	}
	w := writer{ctx: ctx, q: q}
	var lakes []*replacedRow
	for part := parts - 1; part >= 0; part-- { // backwards: a row may have been changed twice
		var content []byte
		if err := q.queryRow(ctx, "SELECT content FROM limnomap.import_parts WHERE import = $1 AND part = $2", number, part).Scan(&content); err != nil {
			return 0, err
		}
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			return 0, err
		}
		rows, err := decodeRows(z)
		if err != nil {
			return 0, fmt.Errorf("part %d of import %d: %w", part, number, err)
		}
		for i := range slices.Backward(rows) {
			row := &rows[i]
			if row.Lake != 0 {
				lakes = append(lakes, row)
				continue
			}
			if row.restore(&w); w.err != nil {
				return 0, w.err
			}
			if row.Was != nil && data.DataType(row.Observation[2]) == data.Satellite {
				satellite++
			}
		}
	}
	w.exec(s.sql.forgetSampled)
	w.exec(forgetMasks)
	for _, row := range lakes { // after the rows about them
		if row.WasLake == nil {
			var used bool
			err := q.queryRow(ctx, `SELECT EXISTS (SELECT 1 FROM limnomap.observations WHERE lake = $1) OR EXISTS (SELECT 1 FROM limnomap.advisories WHERE lake = $1)`, row.Lake).Scan(&used)
			if err != nil {
				return 0, err
			}
			if used {
				return 0, callerError{fmt.Errorf("%w: lakes that it added have observations or official statements: undo or delete these first", ErrNoUndo)}
			}
		}
		if row.restore(&w); w.err != nil {
			return 0, w.err
		}
	}
	return satellite, nil
}

// decodeRows reads the rows of a part.
func decodeRows(z io.Reader) (rows []replacedRow, err error) {
	r := bufio.NewReader(z)
	var last [4]int64
	for {
		size, err := binary.ReadUvarint(r)
		switch {
		case err == io.EOF:
			return rows, nil
		case err == nil && (size > maxRowBytes || len(rows) >= 8*partRows):
			err = fmt.Errorf("a row of %d bytes after %d rows", size, len(rows))
		case err == nil && size == 0:
			for i := range last {
				var d int64
				d, err = binary.ReadVarint(r)
				if last[i] += d; err != nil {
					return nil, err
				}
			}
			rows = append(rows, replacedRow{Observation: new(last)})
			continue
		}
		if err != nil {
			return nil, err
		}
		content := make([]byte, size)
		if _, err := io.ReadFull(r, content); err != nil {
			return nil, err
		}
		var row replacedRow
		if err := json.Unmarshal(content, &row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

// restore restores one row. Pixels are of the value that an import brought, and go with it.
func (r *replacedRow) restore(w *writer) {
	if o := r.Observation; o != nil && data.DataType(o[2]) == data.Satellite {
		w.exec(deletePixels, o[0], o[1], o[3])
	}
	switch {
	case r.Observation != nil && r.Was == nil:
		w.exec("DELETE FROM limnomap.observations WHERE lake = $1 AND date = $2 AND type = $3 AND source = $4", r.Observation[0], r.Observation[1], r.Observation[2], r.Observation[3])
	case r.Observation != nil:
		w.exec("UPDATE limnomap.observations SET chl = $5, level = $6, density = $7, measured_at = $8, details = $9 WHERE lake = $1 AND date = $2 AND type = $3 AND source = $4",
			r.Observation[0], r.Observation[1], r.Observation[2], r.Observation[3], r.Was.Chl, r.Was.Level, r.Was.Density, r.Was.MeasuredAt, r.Was.Details)
	case r.Advisory != "" && r.WasAdvisory == nil:
		w.exec("DELETE FROM limnomap.advisories WHERE id = $1", string(r.Advisory))
	case r.Advisory != "":
		w.exec(updateAdvisorySQL, advisoryArgs(r.WasAdvisory.Lake, &r.WasAdvisory.Advisory)...)
	case r.WasLake == nil:
		w.exec("DELETE FROM limnomap.lakes WHERE key = $1", r.Lake)
	default:
		l := r.WasLake
		w.exec("UPDATE limnomap.lakes SET id = $2, external_id = $3, name = $4, lon = $5, lat = $6, region = $7, area_km2 = $8, outline = $9, water_id = $10 WHERE key = $1",
			r.Lake, l.ID, l.ExternalID, l.Name, l.Lon, l.Lat, l.Region, l.AreaKM2, append([]byte{}, l.Outline...), l.WaterID)
	}
}
