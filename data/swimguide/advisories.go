package swimguide

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"limnomap/data"
)

// A Statement is an official statement, and the record that makes it.
type Statement struct {
	data.Advisory
	GUID string
}

// A Rejected record gave no statement, for this reason.
type Rejected struct {
	GUID string
	Err  error
}

// Advisories returns the official statements that records make: a warning for each record with an advisory. The lake of a location is
// what lakeOf returns; its error rejects the record.
//
// The standard has no end of an advisory. A warning ends when the next record of the same location and substance is published by the
// same publisher, whatever it says: if that has an advisory, it is a warning of its own. A sample of another substance ends no warning.
// Without a next record the end is unknown. The warning of a record that its own publisher revokes is withdrawn then, and such a record
// ends no other; the standard forbids to revoke those of others.
//
// A warning is valid from the publicationTime of its record on. It is issued then, and again with each update, so that the later one of
// two versions of a record is known by its statement.
//
// The standard does not say in which language a description is. It becomes the English text. It and the organization are taken as they
// are: the caller makes them the lines and the line that a statement has.
func Advisories(records []Record, lakeOf func(Location) (data.LakeID, error)) (statements []Statement, rejected []Rejected) {
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b Record) int {
		return cmp.Or(a.Published.Compare(b.Published), strings.Compare(a.GUID, b.GUID))
	})
	revoked := make(map[string]time.Time)
	for _, r := range slices.Backward(sorted) {
		if r.Revokes != "" && publisherOf(r.Revokes) == publisherOf(r.GUID) {
			revoked[r.Revokes] = second(r.Published) // in the end the first, since the order is reversed
		}
	}
	seen := make(map[string]bool)
	later := make(map[series]publications)
	for _, r := range slices.Backward(sorted) {
		if seen[r.GUID] {
			rejected = append(rejected, Rejected{r.GUID, errors.New("two records have this guid")})
			continue
		}
		seen[r.GUID] = true
		key := series{publisherOf(r.GUID), r.Location.ID, r.Sample.Substance}
		withdrawn, isRevoked := revoked[r.GUID]
		end := later[key].after(second(r.Published))
		if !isRevoked { // an invalid sample ends no warning
			later[key] = later[key].add(second(r.Published))
		}
		if !r.AdvisoryIssued {
			continue
		}
		a, err := r.advisory(lakeOf)
		if err != nil {
			rejected = append(rejected, Rejected{r.GUID, err})
			continue
		}
		if isRevoked && withdrawn.Before(a.Issued) { // no statement is withdrawn before it is issued
			withdrawn = a.Issued
		}
		a.ValidUntil, a.Withdrawn = end, withdrawn
		statements = append(statements, Statement{a, r.GUID})
	}
	slices.Reverse(statements)
	slices.Reverse(rejected)
	return statements, rejected
}

// A series is the samples of which each ends the warning of the one before.
type series struct{ publisher, location, substance string }

// publications are the earliest two different times at which records of a series were published; zero if there are none.
type publications struct{ first, second time.Time }

// add adds a time that is not after the first.
func (p publications) add(t time.Time) publications {
	if t.Equal(p.first) {
		return p
	}
	return publications{t, p.first}
}

// after returns the earliest time after t, which is not after the first. Several samples of a beach are often published together, and
// do not end each other's warnings.
func (p publications) after(t time.Time) time.Time {
	if t.Equal(p.first) {
		return p.second
	}
	return p.first
}

// publisherOf returns the part of a GUID that names the publisher. Domain names ignore case.
func publisherOf(guid string) string {
	publisher, _, _ := strings.Cut(guid, "/")
	return strings.ToLower(publisher)
}

func (r *Record) advisory(lakeOf func(Location) (data.LakeID, error)) (data.Advisory, error) {
	lake, err := lakeOf(r.Location)
	if err != nil {
		return data.Advisory{}, err
	}
	a := data.Advisory{
		ID: AdvisoryID(r.GUID), LakeID: lake, Kind: data.Warning, Cause: causeOf(r.Sample.Substance), Issuer: r.Organization,
		TextEN: r.Advisory,
		Issued: second(r.Changed()), ValidFrom: second(r.Published),
	}
	return a, a.CheckImport()
}

// second returns t in UTC to the second, as statements have their times.
func second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

func causeOf(substance string) data.Cause {
	switch substance {
	case "cyanobacteria", "microcystin", "cylindrospermopsin": // the last two are toxins of cyanobacteria
		return data.Cyanobacteria
	}
	return data.Bacteria // all others of the standard
}

// AdvisoryID returns the id of the statement of the record with a GUID. A GUID has a slash and no underscore, so that different ones have different ids. A
// long one ends with a hash.
func AdvisoryID(guid string) data.AdvisoryID {
	id := strings.Replace(guid, "/", "_", 1)
	if _, err := data.ParseAdvisoryID(id); err != nil {
		id = fmt.Sprintf("%s_%x", id[:47], sha256.Sum256([]byte(guid)))[:64]
	}
	return data.AdvisoryID(id)
}
