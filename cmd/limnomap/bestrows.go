package main

import (
	"cmp"
	"strconv"
	"strings"

	"limnomap/data"
	"limnomap/data/ingest/satellite"
)

// A rowAt is where a row is: a table and the number of the row in it.
type rowAt struct{ table, row int32 }

// bestRows are the rows that count, those of a date and a source.
type bestRows struct {
	lakes    map[data.LakeID]int32
	rows     []lakeRows // by the number of the lake
	versions []string
	numbers  map[string]int32 // of versions, from 1 on
}

// lakeRows are the best rows of a lake with a version and without one. Both are chosen apart and then compared, so that the order of the files
// does not matter.
type lakeRows struct {
	versioned, plain rankedRow
	several          bool
}

// A rankedRow is a row with what it is compared by. It has no pointers and takes little memory.
type rankedRow struct {
	rowAt
	version int32
	valid   int32
	value   float64
	rank    valueRank
}

// A valueRank says how far a value can be trusted, the least first.
type valueRank uint8

const (
	noRow valueRank = iota
	rankGap
	rankPoor
	rankSuspect
	rankGood
)

func newBestRows(lakes []satellite.Lake) *bestRows {
	b := &bestRows{lakes: make(map[data.LakeID]int32, len(lakes)), rows: make([]lakeRows, len(lakes))}
	for i := range lakes {
		b.lakes[lakes[i].ID] = int32(i)
	}
	return b
}

// clear begins with another date or source.
func (b *bestRows) clear() {
	clear(b.rows)
	b.versions, b.numbers = []string{""}, make(map[string]int32)
}

// add adds a row. It reports whether it is the second of its lake.
func (b *bestRows) add(at rowAt, rows *tableRows, record []string) (second bool, err error) {
	r, err := rankOf(at, rows, record)
	if err != nil {
		return false, err
	}
	r.version = b.number(record[rows.version])
	lake := &b.rows[b.lakes[data.LakeID(record[rows.lake])]]
	if lake.versioned.rank != noRow || lake.plain.rank != noRow {
		second, lake.several = !lake.several, true
	}
	to := &lake.plain
	if r.version != 0 {
		to = &lake.versioned
	}
	newer := 0
	if r.version != to.version {
		newer = data.CompareVersions(b.versions[r.version], b.versions[to.version])
	}
	if newer > 0 || newer == 0 && r.better(*to) {
		*to = r
	}
	return second, nil
}

// rankOf returns a row without its version.
func rankOf(at rowAt, rows *tableRows, record []string) (r rankedRow, err error) {
	valid, err := strconv.ParseInt(record[rows.valid], 10, 32)
	if err != nil {
		return r, err
	}
	r = rankedRow{rowAt: at, valid: int32(valid), rank: rankGood}
	value := record[rows.value]
	switch quality := record[rows.quality]; {
	case value == "":
		r.rank = rankGap
	case quality == data.Poor.String():
		r.rank = rankPoor
	case quality == data.Suspect.String():
		r.rank = rankSuspect
	}
	if value != "" && value[0] != '<' { // what is below a limit is below all other values
		r.value, err = strconv.ParseFloat(value, 64)
	}
	return r, err
}

// number returns the number of a version, 0 of none.
func (b *bestRows) number(version string) int32 {
	if version == "" {
		return 0
	}
	n, known := b.numbers[version]
	if !known {
		version = strings.Clone(version) // it is a part of a record
		n = int32(len(b.versions))
		b.versions, b.numbers[version] = append(b.versions, version), n
	}
	return n
}

// better reports whether r counts and not other, if their versions do not decide. Of equal values the first row counts; of others the
// larger one, so that a bloom is visible.
func (r rankedRow) better(other rankedRow) bool {
	return cmp.Or(cmp.Compare(r.rank, other.rank), cmp.Compare(r.valid, other.valid), cmp.Compare(r.value, other.value)) > 0
}

// of returns the row of a lake that counts.
func (b *bestRows) of(lake data.LakeID) rowAt {
	rows := b.rows[b.lakes[lake]]
	if rows.versioned.rank == noRow || rows.plain.better(rows.versioned) {
		return rows.plain.rowAt
	}
	return rows.versioned.rowAt
}
