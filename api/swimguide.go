package api

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/swimguide"
)

const pathSwimGuide = "/api/v1/swimguide.json"

// swimGuide answers with a document of Swim Guide's open data standard, with a record for each lake whose current value is a sample with
// a cell count of its own. It is never about a value of a satellite, or a density that is derived from chlorophyll.
func (h *lakeHandlers) swimGuide(w http.ResponseWriter, r *http.Request, p *published) error {
	if h.opts.PublicURL == nil {
		return errNoPublisher
	}
	host := h.opts.PublicURL.Hostname()
	publisher, ok := swimguide.PublisherOf(host)
	if !ok {
		return errNoPublisher
	}
	now := h.opts.Now()
	statements, _ := p.snap.Advisories.All()
	g := sampleRecords{snap: p.snap, publisher: publisher, organization: cmp.Or(h.organization(), host), now: now}
	var lakes []int32
	var head []byte
	err := h.sender.InTurn(r, len(p.snap.Lakes)+len(statements), func() (err error) {
		if lakes, err = g.lakes(); err != nil {
			return err
		}
		var next time.Time
		g.active, next = p.snap.Advisories.ActiveAt(p.snap.Present(now))
		answer.InfoOf(r).TrueFor = trueUntil(next, now)
		head, err = swimguide.AppendHead(nil, lastChange(generatedAt(p.snap), statements, now))
		return err
	})
	if err != nil {
		return err
	}
	return h.sender.SendList(w, r, jsonKind, len(lakes), func() answer.List {
		return answer.List{
			Head: head,
			Append: func(b []byte, k int) []byte {
				record := g.record(int(lakes[k]))
				b, err := record.Append(b)
				if err != nil {
					panic("api: a record that passed its check must be written: " + err.Error())
				}
				return b
			},
			Between: swimguide.Between,
			Tail:    swimguide.Tail,
			Len:     len(lakes),
			Memory:  int64(4 * cap(lakes)),
		}
	})
}

// sampleRecords makes the records of a document.
type sampleRecords struct {
	snap         *snapshot.Snapshot
	publisher    string
	organization string
	now          time.Time
	active       *snapshot.ActiveAdvisories
}

// lakes returns the indices of the lakes with a record, or errNoCount.
func (g *sampleRecords) lakes() ([]int32, error) {
	var lakes []int32
	for i := range g.snap.Lakes {
		if _, ok := countOf(&g.snap.Current.States[i]); !ok {
			continue
		}
		record := g.record(i)
		if err := record.Check(); err != nil {
			return nil, fmt.Errorf("lake %s as a record of Swim Guide's standard: %w", g.snap.Lakes[i].ID, err)
		}
		lakes = append(lakes, int32(i))
	}
	if len(lakes) == 0 {
		return nil, errNoCount
	}
	return lakes, nil
}

// countOf returns the cells per millilitre of a current value that is a sample with a count of its own.
func countOf(state *snapshot.State) (cells float64, ok bool) {
	return state.CountedCells, state.MeasuredBy == data.InSitu && state.CountedCells >= 0
}

// record returns the record of a lake. It has the time of the sample as publicationTime, which must never change, since it is not known
// when the sample was first published; and as updateTime the last time when the record may have changed.
func (g *sampleRecords) record(i int) swimguide.Record {
	lake, state := &g.snap.Lakes[i], &g.snap.Current.States[i]
	taken := time.Unix(state.MeasuredAt(), 0).UTC()
	count, _ := countOf(state)
	at := swimguide.Location{ID: string(lake.ID), Name: lake.Name, Lat: lake.Point.Lat(), Lon: lake.Point.Lon()}
	r := swimguide.Record{
		GUID:         g.publisher + "/" + sampleID(lake.ID, taken),
		Published:    taken,
		Organization: g.organization,
		Location:     at,
		Sample: swimguide.Sample{
			Collected: taken, Location: at, Kind: "single", Method: "unknown", Substance: "cyanobacteria", Units: "cells", Result: count,
		},
	}
	if updated := lastChange(generatedAt(g.snap), g.snap.Advisories.Of(i), g.now); updated.After(taken) {
		r.Updated = updated
	}
	if a := g.active.Of(i); a != nil && a.Kind >= data.Warning {
		r.AdvisoryIssued, r.Advisory = true, describe(a)
	}
	return r
}

// sampleID returns the same id for the same sample. The id of a lake may have characters that the standard does not allow, so it is
// hashed.
func sampleID(lake data.LakeID, taken time.Time) string {
	hash := sha256.Sum256([]byte(string(lake) + "\n" + strconv.FormatInt(taken.Unix(), 10)))
	return fmt.Sprintf("%s-%x", taken.Format("20060102"), hash[:16])
}

// describe returns the description of an advisory: an official statement with its kind, its cause and the authority, since the standard
// has no other place for them.
func describe(a *data.Advisory) string {
	description := fmt.Sprintf("%s, cause: %s, issued by %s", a.Kind, a.Cause, a.Issuer)
	if text := cmp.Or(a.TextEN, a.TextDE); text != "" {
		description += ": " + text
	}
	return description
}

// lastChange returns the last time up to now when the data changed, or one of the statements began or ended.
func lastChange(loaded time.Time, statements []data.Advisory, now time.Time) time.Time {
	last := loaded
	for i := range statements {
		s := &statements[i]
		for _, change := range []time.Time{s.Issued, s.ValidFrom, s.ValidUntil, s.Withdrawn} {
			if change.After(last) && !change.After(now) {
				last = change
			}
		}
	}
	return last
}
