package data

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
	"time"
)

const (
	// versionFormat is hashed first. It changes with the encoding below, and with any rule of this package by which the
	// same data show something else.
	versionFormat = "limnomap snapshot 3"
	// versionBytes of SHA-256, 64 bits: the chance that any two of a million snapshots collide is 1 in 37 million.
	versionBytes = 8
)

// hashedBytes is how many bytes are collected for one call of the hash function: more than a hundred observations.
const hashedBytes = 1 << 13

// A versionHash hashes the canonical encoding of what a snapshot shows: the format, the options, each lake, each
// observation, in the order of the scan. Numbers are little-endian with 64 bits, floats are their IEEE 754 bits, texts
// their length and bytes. So it does not depend on the machine, and different data have different encodings.
type versionHash struct {
	sum hash.Hash
	buf []byte // what comes next
}

func newVersionHash(r *currentRule) versionHash {
	p := r.profile
	h := versionHash{sum: sha256.New()}
	h.text(versionFormat)
	h.text(p.ID)
	h.number(int64(p.Limits[0]))
	h.number(int64(p.Limits[1]))
	above := int64(0)
	if p.Above {
		above = 1
	}
	h.number(above)
	h.number(int64(r.staleAfter))
	h.number(int64(r.samplePrefer))
	h.end()
	return h
}

func (h *versionHash) lake(l Lake) {
	h.buf = append(h.buf, 'L')
	h.text(string(l.ID))
	h.text(l.ExternalID)
	h.text(l.Name)
	h.float(l.Point.Lon())
	h.float(l.Point.Lat())
	h.text(l.Region)
	h.float(l.AreaKM2)
	h.text(string(l.Outline))
	h.end()
}

// observation adds o of lake i.
func (h *versionHash) observation(i int, o Observation) {
	h.buf = append(h.buf, 'O')
	h.number(int64(i))
	h.number(int64(o.Date))
	h.number(int64(o.Chlorophyll))
	h.number(int64(o.reported()))
	h.float(o.CellDensity)
	h.number(o.Taken().Unix())
	h.number(int64(o.Type))
	h.number(int64(o.Quality))
	if o.Rank != 0 {
		h.buf = append(h.buf, 'R')
		h.number(int64(o.Rank))
	}
	h.end()
}

// advisories adds all official statements: the maps of past weeks show those that were active then.
func (h *versionHash) advisories(a *Advisories) {
	for i := range a.all {
		s := &a.all[i]
		h.buf = append(h.buf, 'A')
		h.number(int64(a.lakes[i]))
		h.number(int64(s.Kind))
		h.number(int64(s.Cause))
		for _, text := range []string{string(s.ID), s.Issuer, s.TextEN, s.TextDE, s.URL} {
			h.text(text)
		}
		for _, t := range []time.Time{s.Issued, s.ValidFrom, s.ValidUntil, s.Withdrawn} {
			h.number(t.Unix())
		}
		h.end()
	}
}

func (h *versionHash) text(s string) {
	h.number(int64(len(s)))
	h.buf = append(h.buf, s...)
}

func (h *versionHash) float(f float64) { h.number(int64(math.Float64bits(f))) }

func (h *versionHash) number(n int64) { h.buf = binary.LittleEndian.AppendUint64(h.buf, uint64(n)) }

// end ends a record.
func (h *versionHash) end() {
	if len(h.buf) >= hashedBytes {
		h.flush()
	}
}

func (h *versionHash) flush() {
	h.sum.Write(h.buf) // a hash never fails
	h.buf = h.buf[:0]
}

// version returns the hash of everything added.
func (h *versionHash) version() string {
	h.flush()
	return hex.EncodeToString(h.sum.Sum(nil)[:versionBytes])
}

// A forecastHash hashes forecasts as a versionHash does, lake by lake in the order of a snapshot.
type forecastHash struct{ versionHash }

func newForecastHash() *forecastHash {
	h := &forecastHash{versionHash{sum: sha256.New()}}
	h.text("limnomap forecast 1")
	h.end()
	return h
}

func (h *forecastHash) forecast(l *LakeForecast) {
	h.text(string(l.LakeID))
	h.number(int64(l.BasedOn))
	h.number(int64(l.Withheld))
	for _, w := range l.Weeks {
		h.number(int64(w.Chl))
		h.number(int64(w.Sigma))
	}
	h.end()
}

// of returns the version of the forecasts that were added, of an issue.
func (h *forecastHash) of(f *ForecastIssue) string {
	h.text(f.Model)
	h.number(int64(f.Issued))
	h.end()
	return h.version()
}

// versionAt returns the version of a snapshot while these official statements are active: that of its load if there are none.
func versionAt(loaded string, active *ActiveAdvisories) string {
	if len(active.lakes) == 0 {
		return loaded
	}
	h := versionHash{sum: sha256.New()}
	h.text(loaded)
	for i, a := range active.gravest {
		h.number(int64(active.lakes[i]))
		h.text(string(a.ID))
		h.number(int64(a.Kind))
		h.end()
	}
	return h.version()
}
