package swimguide

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDocument bounds the bytes of a document that is read: some 100,000 records.
const maxDocument = 128 << 20

// The members of a record, as the schema has them. A pointer is nil if the member is absent.

type jsonRecord struct {
	GUID             *string         `json:"guid"`
	PublicationTime  *time.Time      `json:"publicationTime"`
	UpdateTime       *time.Time      `json:"updateTime,omitzero"`
	OrganizationName *string         `json:"organizationName"`
	Revokes          *jsonRevocation `json:"revokes,omitzero"`
	References       []jsonGUID      `json:"references,omitempty"`
	Advisory         *jsonAdvisory   `json:"advisory"`
	Location         *jsonLocation   `json:"location"`
	Sample           *jsonSample     `json:"sample"`
}

type jsonGUID struct {
	GUID *string `json:"guid"`
}

type jsonRevocation struct {
	GUID        *string `json:"guid"`
	Explanation string  `json:"explanation,omitzero"`
}

type jsonAdvisory struct {
	Issued      *bool  `json:"issued"`
	Description string `json:"description,omitzero"`
}

type jsonLocation struct {
	ID         *string         `json:"id"`
	Name       *string         `json:"name"`
	Coordinate *jsonCoordinate `json:"coordinate"`
}

type jsonCoordinate struct {
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
}

type jsonSample struct {
	CollectionTime *time.Time    `json:"collectionTime"`
	Location       *jsonLocation `json:"location"`
	Type           *jsonType     `json:"type"`
	Method         *string       `json:"method"`
	Substance      *string       `json:"substance"`
	Units          *string       `json:"units"`
	Result         *float64      `json:"result"`
	Collector      string        `json:"collector,omitzero"`
}

type jsonType struct {
	Kind    *string  `json:"kind"`
	Variant *string  `json:"variant,omitzero"`
	Hours   *float64 `json:"hours,omitzero"`
}

// Read reads a document, and calls record for each of its records, which are counted from 0: with an error if it is not what the standard
// demands. An error from record ends the reading and is returned, as is one of the document itself. The time is when the document was
// issued.
func Read(r io.Reader, record func(i int, rec Record, err error) error) (issued time.Time, err error) {
	limited := &io.LimitedReader{R: r, N: maxDocument + 1}
	issued, err = readDocument(jsontext.NewDecoder(limited), record)
	if limited.N <= 0 {
		return time.Time{}, fmt.Errorf("the document has more than %d bytes: divide it", maxDocument)
	}
	return issued, err
}

func readDocument(d *jsontext.Decoder, record func(i int, rec Record, err error) error) (issued time.Time, err error) {
	if err := expect(d, '{', "an object"); err != nil {
		return issued, err
	}
	schema, count := "", 0
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return issued, err
		}
		switch member := name.String(); member {
		case "$schema":
			err = json.UnmarshalDecode(d, &schema)
		case "documentTime":
			err = json.UnmarshalDecode(d, &issued)
		case "records":
			count, err = readRecords(d, record)
		default:
			err = fmt.Errorf("member %.80q: want $schema, documentTime and records", member)
		}
		if err != nil {
			return issued, err
		}
	}
	if err := expect(d, '}', "the end of the object"); err != nil {
		return issued, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return issued, errors.New("something follows the document")
	}
	switch u, err := url.Parse(schema); {
	case err != nil || u.Scheme == "":
		return issued, fmt.Errorf("$schema %.80q: want the address of the schema", schema)
	case issued.IsZero():
		return issued, errors.New("documentTime is missing")
	case count == 0:
		return issued, errors.New("records are missing: want at least one")
	}
	return issued, nil
}

// expect reads a token of that kind.
func expect(d *jsontext.Decoder, kind jsontext.Kind, what string) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != kind {
		return fmt.Errorf("%v where %s is wanted", token.Kind(), what)
	}
	return nil
}

func readRecords(d *jsontext.Decoder, record func(i int, rec Record, err error) error) (count int, err error) {
	if err := expect(d, '[', "an array of records"); err != nil {
		return 0, err
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return count, err
		}
		rec, err := parseRecord(value)
		if err := record(count, rec, err); err != nil {
			return count, err
		}
		count++
	}
	return count, expect(d, ']', "the end of the records")
}

func parseRecord(value jsontext.Value) (Record, error) {
	var j jsonRecord
	if err := json.Unmarshal(value, &j, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, err
	}
	if err := j.lacks(); err != nil {
		return Record{}, err
	}
	r := Record{
		GUID: *j.GUID, Published: *j.PublicationTime, Organization: *j.OrganizationName,
		AdvisoryIssued: *j.Advisory.Issued, Advisory: j.Advisory.Description,
		Location: j.Location.location(),
		Sample: Sample{
			Collected: *j.Sample.CollectionTime, Location: j.Sample.Location.location(), Kind: *j.Sample.Type.Kind, Method: *j.Sample.Method,
			Substance: *j.Sample.Substance, Units: *j.Sample.Units, Result: *j.Sample.Result, Collector: j.Sample.Collector,
		},
	}
	if j.UpdateTime != nil {
		r.Updated = *j.UpdateTime
	}
	if j.Revokes != nil {
		if r.Revokes, r.Explanation = *j.Revokes.GUID, j.Revokes.Explanation; r.Revokes == "" {
			return r, errors.New("the guid that is revoked is empty")
		}
	}
	for _, g := range j.References {
		r.References = append(r.References, *g.GUID)
	}
	if v := j.Sample.Type.Variant; v != nil {
		r.Sample.Variant = *v
	}
	hours := j.Sample.Type.Hours
	if (hours != nil) != (r.Sample.Variant == temporal) {
		return r, fmt.Errorf("hours of the variant %.80q: want hours if it is temporal, and none otherwise", r.Sample.Variant)
	}
	if hours != nil {
		r.Sample.Hours = *hours
	}
	return r, r.Check()
}

// lacks returns an error that names a required member which is absent.
func (j *jsonRecord) lacks() error {
	type member struct {
		name  string
		there bool
	}
	members := []member{
		{"guid", j.GUID != nil}, {"publicationTime", j.PublicationTime != nil}, {"organizationName", j.OrganizationName != nil},
		{"advisory.issued", j.Advisory != nil && j.Advisory.Issued != nil},
		{"location with id, name and coordinate", j.Location.complete()},
		{"revokes.guid", j.Revokes == nil || j.Revokes.GUID != nil},
		{"sample", j.Sample != nil},
	}
	for _, g := range j.References {
		members = append(members, member{"references.guid", g.GUID != nil})
	}
	if s := j.Sample; s != nil {
		members = append(members, []member{
			{"sample.collectionTime", s.CollectionTime != nil}, {"sample.location with id, name and coordinate", s.Location.complete()},
			{"sample.type.kind", s.Type != nil && s.Type.Kind != nil}, {"sample.method", s.Method != nil},
			{"sample.substance", s.Substance != nil}, {"sample.units", s.Units != nil}, {"sample.result", s.Result != nil},
		}...)
	}
	for _, m := range members {
		if !m.there {
			return fmt.Errorf("%s is missing", m.name)
		}
	}
	return nil
}

func (l *jsonLocation) complete() bool {
	return l != nil && l.ID != nil && l.Name != nil && l.Coordinate != nil && l.Coordinate.Latitude != nil && l.Coordinate.Longitude != nil
}

func (l *jsonLocation) location() Location {
	return Location{ID: *l.ID, Name: *l.Name, Lat: *l.Coordinate.Latitude, Lon: *l.Coordinate.Longitude}
}

// A document is its head, its records with Between after each but the last, and Tail. The standard has none without a record.
const (
	Between = ","
	Tail    = "]}\n"
)

// AppendHead appends what precedes the first record of a document.
func AppendHead(b []byte, issued time.Time) ([]byte, error) {
	head, err := json.Marshal(struct {
		Schema  string       `json:"$schema"`
		Time    time.Time    `json:"documentTime"`
		Records []jsonRecord `json:"records"`
	}{schemaURL, issued, []jsonRecord{}})
	if err != nil {
		return b, err
	}
	return append(b, bytes.TrimSuffix(head, []byte("]}"))...), nil
}

// Append appends the record as a document holds it. It must pass its Check.
func (r *Record) Append(b []byte) ([]byte, error) {
	if err := r.Check(); err != nil {
		return b, fmt.Errorf("record %s: %w", r.GUID, err)
	}
	content, err := json.Marshal(r.json())
	if err != nil {
		return b, fmt.Errorf("record %s: %w", r.GUID, err)
	}
	return append(b, content...), nil
}

func (r *Record) json() jsonRecord {
	s := &r.Sample
	j := jsonRecord{
		GUID: &r.GUID, PublicationTime: &r.Published, OrganizationName: &r.Organization,
		Advisory: &jsonAdvisory{&r.AdvisoryIssued, r.Advisory}, Location: r.Location.json(),
		Sample: &jsonSample{
			CollectionTime: &s.Collected, Location: s.Location.json(), Type: &jsonType{Kind: &s.Kind}, Method: &s.Method,
			Substance: &s.Substance, Units: &s.Units, Result: &s.Result, Collector: s.Collector,
		},
	}
	if !r.Updated.IsZero() {
		j.UpdateTime = &r.Updated
	}
	if r.Revokes != "" {
		j.Revokes = &jsonRevocation{&r.Revokes, r.Explanation}
	}
	for i := range r.References {
		j.References = append(j.References, jsonGUID{&r.References[i]})
	}
	if s.Variant != "" {
		j.Sample.Type.Variant = &s.Variant
	}
	if s.Variant == temporal {
		j.Sample.Type.Hours = &s.Hours
	}
	return j
}

func (l *Location) json() *jsonLocation {
	return &jsonLocation{&l.ID, &l.Name, &jsonCoordinate{&l.Lat, &l.Lon}}
}
