package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"

	"github.com/jackc/pgx/v5"

	"limnomap/data"
)

// copyObservations copies the given rows into a table, and if numbered, their numbers into its column n. pgx's CopyFrom
// would ask the server for the table's types each time, and allocate each value.
func (t *postgresTx) copyObservations(ctx context.Context, table pgx.Identifier, observations []data.Observation, rows []int, numbered bool) error {
	t.copied.begin()
	for _, i := range rows {
		o := &observations[i]
		t.copied.add(i, numbered, t.keys[o.LakeID], o)
	}
	t.copied.end()
	query := "COPY " + table.Sanitize() + " ("
	if numbered {
		query += "n, "
	}
	query += "lake, date, type, chl, level, density, measured_at) FROM STDIN (FORMAT binary)"
	_, err := t.tx.Conn().PgConn().CopyFrom(ctx, &t.copied.Buffer, query)
	return err
}

// A copyBuffer holds rows in PostgreSQL's binary format (postgresql.org/docs/15/sql-copy.html, "Binary Format").
type copyBuffer struct {
	bytes.Buffer
	row []byte
}

// begin empties the buffer and writes the header: the signature, no flags, no extension.
func (b *copyBuffer) begin() {
	b.Reset()
	b.WriteString("PGCOPY\n\xff\r\n\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00")
}

// end writes the trailer, an invalid field count.
func (b *copyBuffer) end() { b.WriteString("\xff\xff") }

// add writes a row: the number of its fields, and each field after its length.
func (b *copyBuffer) add(n int, numbered bool, lake int32, o *data.Observation) {
	const fields = 7
	r := b.row[:0]
	if numbered {
		r = appendInt32(append(r, 0, fields+1), int32(n))
	} else {
		r = append(r, 0, fields)
	}
	r = appendInt32(r, lake)
	r = appendInt32(r, int32(o.Date))
	r = appendInt16(r, int16(o.Type))
	if o.Chlorophyll.Valid() {
		r = appendInt32(r, int32(o.Chlorophyll))
	} else {
		r = appendNull(r)
	}
	if o.Level != data.NoLevel {
		r = appendInt16(r, int16(o.Level))
	} else {
		r = appendNull(r)
	}
	if o.CellDensity >= 0 {
		r = appendInt64(r, math.Float64bits(unsigned(o.CellDensity)))
	} else {
		r = appendNull(r)
	}
	if !o.MeasuredAt.IsZero() {
		r = appendInt64(r, uint64(o.MeasuredAt.Unix()))
	} else {
		r = appendNull(r)
	}
	b.row = r
	b.Write(r)
}

func appendNull(b []byte) []byte { return append(b, 0xff, 0xff, 0xff, 0xff) }

func appendInt16(b []byte, v int16) []byte {
	return binary.BigEndian.AppendUint16(append(b, 0, 0, 0, 2), uint16(v))
}

func appendInt32(b []byte, v int32) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), uint32(v))
}

func appendInt64(b []byte, v uint64) []byte {
	return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), v)
}

// unsigned returns 0 for negative zero, which SQLite does not store: both kinds of store must give the same bits.
func unsigned(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x
}
