package snapshot

import (
	"encoding/hex"
	"time"

	"limnomap/data"
	"limnomap/data/canonical"
)

const (
	// versionFormat is hashed first. It changes with the encoding below, and with any rule of this package by which the
	// same data show something else.
	versionFormat = "limnomap snapshot 5"
	// versionBytes of SHA-256, 64 bits: the chance that any two of a million snapshots collide is 1 in 37 million.
	versionBytes = 8
)

// A versionHash hashes what a snapshot shows: the format, the options, each lake, each observation, in the order of the scan.
type versionHash struct{ canonical.Hash }

func newVersionHash(r *currentRule) versionHash {
	p := r.profile
	h := versionHash{canonical.New(versionFormat)}
	h.Text(p.ID)
	h.Number(int64(p.Limits[0]))
	h.Number(int64(p.Limits[1]))
	h.Float(p.CellLimits[0])
	h.Float(p.CellLimits[1])
	above := int64(0)
	if p.Above {
		above = 1
	}
	h.Number(above)
	h.Number(int64(r.staleAfter))
	h.Number(int64(r.samplePrefer))
	h.End()
	return h
}

func (h *versionHash) lake(l data.Lake) {
	h.Byte('L')
	h.Text(string(l.ID))
	h.Text(l.ExternalID)
	h.Text(l.Name)
	h.Float(l.Point.Lon())
	h.Float(l.Point.Lat())
	h.Text(l.Region)
	h.Float(l.AreaKM2)
	h.Text(string(l.Outline))
	if l.WaterID != "" {
		h.Byte('W')
		h.Text(l.WaterID)
	}
	h.End()
}

// observation adds o of lake i.
func (h *versionHash) observation(i int, o data.Observation) {
	h.Byte('O')
	h.Number(int64(i))
	h.Number(int64(o.Date))
	h.Number(int64(o.Chlorophyll))
	h.Number(int64(o.ReportedLevel()))
	h.Float(o.CellDensity)
	h.Number(o.Taken().Unix())
	h.Number(int64(o.Type))
	h.Number(int64(o.Quality))
	if o.Details.BelowLimit {
		h.Byte('B')
	}
	if p := periodOf(&o); p != 0 {
		h.Byte('P')
		h.Number(int64(p))
	}
	if o.Rank != 0 {
		h.Byte('R')
		h.Number(int64(o.Rank))
	}
	h.End()
}

// pixels adds the pixels of satellites, if there are any.
func (h *versionHash) pixels(p data.PixelState) {
	if p != (data.PixelState{}) {
		h.Byte('X')
		h.Number(p.Count)
		h.Number(p.Digest)
		h.End()
	}
}

// advisories adds all official statements: the maps of past weeks show those that were active then.
func (h *versionHash) advisories(a *Advisories) {
	for i := range a.all {
		s := &a.all[i]
		h.Byte('A')
		h.Number(int64(a.lakes[i]))
		h.Number(int64(s.Kind))
		h.Number(int64(s.Cause))
		for _, text := range []string{string(s.ID), s.Issuer, s.TextEN, s.TextDE, s.URL} {
			h.Text(text)
		}
		for _, t := range []time.Time{s.Issued, s.ValidFrom, s.ValidUntil, s.Withdrawn} {
			h.Number(t.Unix())
		}
		h.End()
	}
}

// version returns the hash of everything added.
func (h *versionHash) version() string {
	return hex.EncodeToString(h.Sum()[:versionBytes])
}

// A forecastHash hashes forecasts as a versionHash does, lake by lake in the order of a snapshot.
type forecastHash struct{ versionHash }

func newForecastHash() *forecastHash {
	h := &forecastHash{versionHash{canonical.New("limnomap forecast 1")}}
	h.End()
	return h
}

func (h *forecastHash) forecast(l *data.LakeForecast) {
	h.Text(string(l.LakeID))
	h.Number(int64(l.BasedOn))
	h.Number(int64(l.Withheld))
	for _, w := range l.Weeks {
		h.Number(int64(w.Chl))
		h.Number(int64(w.Sigma))
	}
	h.End()
}

// of returns the version of the forecasts that were added, of an issue.
func (h *forecastHash) of(f *data.ForecastIssue) string {
	h.Text(f.Model)
	h.Number(int64(f.Issued))
	h.End()
	return h.version()
}

// versionAt returns the version of a loaded snapshot on a day, while these official statements are active.
func versionAt(loaded string, today data.Date, active *ActiveAdvisories) string {
	h := versionHash{canonical.New(loaded)}
	h.Number(int64(today))
	for _, i := range active.valid {
		h.Number(int64(i))
	}
	h.End()
	return h.version()
}
