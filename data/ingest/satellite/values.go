package satellite

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"iter"
	"math"
	"slices"

	"limnomap/data"
	"limnomap/data/pixels"
)

// Values are the rows of one file. They take 76 bytes each, and those of their pixels, in memory or in a file.
type Values struct {
	Name string // of the satellite file
	Summary

	lakes []Lake
	texts []string // versions and methods
	count int      // of rows
	rows  []packedRow
	grid  string            // of the pixels of all rows
	bytes []byte            // of the pixels of the rows, one after the other
	moved *io.SectionReader // has the rows, and then bytes, if they are not in memory
	worse []bool            // which rows do not count, by number; nil if all do
}

// A packedRow is a [Row] without pointers and without what all rows of a file have in common.
type packedRow struct {
	Lake, Version, Method               int32 // indexes
	Inside, Valid                       int32
	Value, Limit, Uncertainty, P10, P90 int32 // in 1/10,000 µg/l
	Cells                               int32 // an index is below 10, and so are 1e9 cells/ml above all
	Scum                                int32
	Quantities                          [numQuantities]int32 // notKnown if absent
	PixelsEnd                           uint32               // in Values.bytes; those of a row begin at the end of the row before it
	MaskBytes                           uint32               // of these, the mask
	Flags                               data.Flags
	Quality                             data.Quality
	Reason                              Reason
	HasValue, _                         bool
}

const (
	packedBytes = 76
	packedUnit  = 10_000 // of numbers in a packedRow, in one µg/l
	// chunkRows is how many rows are read at once from a file.
	chunkRows = 4096
	notKnown  = math.MinInt32
	// maxPixelBytes bounds the pixels of one file: those of all lakes of the Earth at 300 m take some 20 MB. Further rows have none.
	maxPixelBytes = 256 << 20
)

// Collect extracts the rows of a file, as [Extract] does.
func Collect(ctx context.Context, file File, lakes []Lake, opts *Options) (*Values, error) {
	v := &Values{Name: file.Name, lakes: lakes}
	pack := v.packer()
	var err error
	v.Summary, err = Extract(ctx, file, lakes, opts, func(r *Row) error {
		pack(r)
		return nil
	})
	return v, err
}

// packer returns a function that adds a row.
func (v *Values) packer() func(*Row) {
	known := make(map[string]int32)
	text := func(s string) int32 {
		n, ok := known[s]
		if !ok {
			n = int32(len(v.texts))
			known[s], v.texts = n, append(v.texts, s)
		}
		return n
	}
	number := func(f float64) int32 { return int32(math.Round(fourDecimals(f) * packedUnit)) }
	return func(r *Row) {
		var quantities [numQuantities]int32
		for k, q := range r.Quantities {
			if quantities[k] = notKnown; q.Known {
				quantities[k] = int32(q.Value)
			}
		}
		var maskBytes int
		if p := r.Pixels; p != nil && len(v.bytes)+len(p.Mask)+len(p.Codes) <= maxPixelBytes {
			maskBytes, v.grid = len(p.Mask), p.Grid
			v.bytes = append(append(v.bytes, p.Mask...), p.Codes...)
		}
		v.rows = append(v.rows, packedRow{
			Lake: int32(r.index), Version: text(r.Version), Method: text(r.Method), Inside: int32(r.Inside), Valid: int32(r.Valid),
			Value: number(r.Value), Limit: number(r.Limit), Uncertainty: number(r.Uncertainty), P10: number(r.P10), P90: number(r.P90),
			Cells: int32(r.Cells), Scum: int32(r.Scum), Quantities: quantities, PixelsEnd: uint32(len(v.bytes)), MaskBytes: uint32(maskBytes), Flags: r.Flags, Quality: r.Quality, Reason: r.Reason, HasValue: r.HasValue,
		})
		v.count++
	}
}

// row returns a row as it was before it was packed, with four decimals and without its pixels.
func (v *Values) row(p *packedRow) Row {
	number := func(n int32) float64 { return float64(n) / packedUnit } // as fourDecimals returns it
	var quantities [numQuantities]data.Optional[data.Hundredths]
	for k, q := range p.Quantities {
		if q != notKnown {
			quantities[k] = data.Known(data.Hundredths(q))
		}
	}
	return Row{
		index: int(p.Lake), Lake: v.lakes[p.Lake].ID, Date: v.Date, PeriodStart: v.start(), Composite: v.Composite, Source: v.Source, Version: v.texts[p.Version], Method: v.texts[p.Method],
		HasValue: p.HasValue, Reason: p.Reason, Value: number(p.Value), Limit: number(p.Limit), Uncertainty: number(p.Uncertainty),
		P10: number(p.P10), P90: number(p.P90), Cells: float64(p.Cells), Inside: int(p.Inside), Valid: int(p.Valid), Quality: p.Quality, Flags: p.Flags,
		Scum: int(p.Scum), Quantities: quantities,
	}
}

// MoveTo writes the rows to the end of a file, which has end bytes, and from then on reads them there. It returns the new end.
func (v *Values) MoveTo(file interface {
	io.ReaderAt
	io.WriterAt
}, end int64) (int64, error) {
	out := io.NewOffsetWriter(file, end)
	for rows := range slices.Chunk(v.rows, chunkRows) {
		if err := binary.Write(out, binary.LittleEndian, rows); err != nil {
			return end, err
		}
	}
	if _, err := out.Write(v.bytes); err != nil {
		return end, err
	}
	size := v.pixelsAt() + int64(len(v.bytes))
	v.moved, v.rows, v.bytes = io.NewSectionReader(file, end, size), nil, nil
	return end + size, nil
}

// pixelsAt returns where the bytes of the pixels begin in moved.
func (v *Values) pixelsAt() int64 { return int64(v.count) * packedBytes }

// pixelsOf returns the pixels of a row that begin at that byte, nil if it has none.
func (v *Values) pixelsOf(p *packedRow, at uint32) (*pixels.Packed, error) {
	if p.PixelsEnd == at {
		return nil, nil
	}
	b := make([]byte, p.PixelsEnd-at)
	if v.moved == nil {
		copy(b, v.bytes[at:])
	} else if _, err := v.moved.ReadAt(b, v.pixelsAt()+int64(at)); err != nil {
		return nil, err
	}
	return &pixels.Packed{Grid: v.grid, Mask: b[:p.MaskBytes:p.MaskBytes], Codes: b[p.MaskBytes:]}, nil
}

// Len returns the number of rows.
func (v *Values) Len() int { return v.count }

// packed returns all rows by their number.
func (v *Values) packed() iter.Seq2[*packedRow, error] {
	return func(yield func(*packedRow, error) bool) {
		rows := v.rows
		for n := 0; n < v.count; n += len(rows) {
			if v.moved != nil {
				rows = make([]packedRow, min(v.count-n, chunkRows))
				if err := binary.Read(io.NewSectionReader(v.moved, int64(n)*packedBytes, math.MaxInt64), binary.LittleEndian, rows); err != nil {
					yield(nil, err)
					return
				}
			}
			for i := range rows {
				if !yield(&rows[i], nil) {
					return
				}
			}
		}
	}
}

// Rows returns the rows that count.
func (v *Values) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		n, at := 0, uint32(0)
		for p, err := range v.packed() {
			if err != nil {
				yield(Row{}, err)
				return
			}
			if v.worse == nil || !v.worse[n] {
				r := v.row(p)
				if r.Pixels, err = v.pixelsOf(p, at); !yield(r, err) || err != nil {
					return
				}
			}
			n, at = n+1, p.PixelsEnd
		}
	}
}

// Observations returns the rows that count as they are stored.
func (v *Values) Observations() iter.Seq2[data.Observation, error] {
	return func(yield func(data.Observation, error) bool) {
		for r, err := range v.Rows() {
			if !yield(r.Observation(), err) {
				return
			}
		}
	}
}

// A Repetition is how many lakes are in several files of one source and date.
type Repetition struct {
	Source string
	Date   data.Date
	Lakes  int
}

// KeepBest leaves one row of each lake, date and source that count, by [data.CompareSatelliteRows]: all files have the same lakes. It needs
// about 120 bytes for each lake, however many files there are, and nothing if no files are of one source and date.
func KeepBest(ctx context.Context, files []*Values) ([]Repetition, error) {
	type day struct {
		source string
		date   data.Date
	}
	days := make(map[day][]*Values)
	var order []day
	for _, v := range files {
		of := day{v.Source, v.Date}
		if days[of] = append(days[of], v); len(days[of]) == 2 {
			order = append(order, of)
		}
	}
	var found []Repetition
	var best []candidates
	for _, of := range order {
		if best == nil {
			best = make([]candidates, len(files[0].lakes))
		}
		n, err := keepBest(ctx, days[of], best)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found = append(found, Repetition{of.source, of.date, n})
		}
	}
	return found, nil
}

// candidates are the best rows of a lake with a version and without one. A row without a version is as old as any other: if each row were
// compared with the best one so far, the order of the files would matter.
type candidates struct {
	versioned, plain candidate
	several          bool // whether the lake has another row
}

// A candidate is a row. It has no pointers, since there may be millions.
type candidate struct {
	file, row int32 // file counts from 1 on; 0 means that there is none
	packedRow
}

// better reports whether a counts and not b.
func (a *candidate) better(b *candidate, files []*Values) bool {
	if a.file == 0 || b.file == 0 {
		return a.file != 0
	}
	ra, rb := files[a.file-1].row(&a.packedRow), files[b.file-1].row(&b.packedRow)
	oa, ob := ra.Observation(), rb.Observation()
	order, _ := data.CompareSatelliteRows(&oa, &ob)
	if order == 0 && ra.Limit == 0 && rb.Limit == 0 { // a table shows more decimals than are stored
		order = cmp.Compare(a.Value, b.Value)
	}
	return order > 0
}

// keepBest does it for files of one source and date. It returns how many lakes have several rows.
func keepBest(ctx context.Context, files []*Values, best []candidates) (several int, err error) {
	clear(best)
	for _, v := range files {
		v.worse = make([]bool, v.count)
	}
	lose := func(of *candidates, c *candidate) {
		files[c.file-1].worse[c.row] = true
		if !of.several {
			of.several, several = true, several+1
		}
	}
	for i, v := range files {
		n := int32(0)
		for p, err := range v.packed() {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return 0, err
			}
			b, c := &best[p.Lake], candidate{int32(i + 1), n, *p}
			to := &b.plain
			if v.texts[p.Version] != "" {
				to = &b.versioned
			}
			if c.better(to, files) {
				c, *to = *to, c
			}
			if c.file != 0 {
				lose(b, &c)
			}
			n++
		}
	}
	for i := range best {
		switch b := &best[i]; {
		case b.plain.file == 0 || b.versioned.file == 0:
		case b.plain.better(&b.versioned, files):
			lose(b, &b.versioned)
		default:
			lose(b, &b.plain)
		}
	}
	return several, nil
}
