package swimguide

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// schemaURL is the value of $schema: the schema of the version that is written.
const schemaURL = "https://raw.githubusercontent.com/swimdrinkfish/opendata/master/v1.0.1/schema.json#"

// A Record is the result of a water sample.
type Record struct {
	GUID         string // the name of the publisher's domain, reversed, a slash, and an id that the publisher chose
	Published    time.Time
	Updated      time.Time // zero if it was never updated
	Organization string
	Revokes      string // the GUID of a record that this one revokes; empty if none
	Explanation  string // why; may be empty
	References   []string
	// AdvisoryIssued says whether an advisory was issued for the location because of the local water quality standard.
	AdvisoryIssued bool
	Advisory       string // its description; may be empty
	Location       Location
	Sample         Sample
}

// Changed returns when the record was published or updated last.
func (r *Record) Changed() time.Time {
	if r.Updated.After(r.Published) {
		return r.Updated
	}
	return r.Published
}

// A Location is a beach or another place, or the exact point where a sample was taken.
type Location struct {
	ID       string // unique for the publisher
	Name     string
	Lat, Lon float64
}

// A Sample is a sample of water and what was measured in it.
type Sample struct {
	Collected time.Time
	Location  Location
	Kind      string  // one of kinds
	Variant   string  // of a geomean: spatial or temporal
	Hours     float64 // of a temporal geomean
	Method    string  // one of methods
	Substance string  // one of substances
	Units     string  // one of units
	Result    float64
	Collector string // may be empty
}

// The values that the standard lists (its reference, appendices 1 and 2).
var (
	kinds      = []string{"single", "composite", "predicted", geomean}
	units      = []string{"cfu", "mpn", "cce", "cells", "micro"}
	substances = []string{"total_coliform", "fecal_coliform", "ecoli", "enterococcus", "cyanobacteria", "microcystin", "cylindrospermopsin"}
	methods    = []string{
		"600-R-00-013", "1103.1", "1106.1", "1600", "1603", "1604", "9213D", "10029", "coliscan_MF", "9221A", "9221B", "9221C", "9221F",
		"9222B", "9222G", "9223B", "9223B_colilert", "9223B_colilert18", "1680", "1681", "1611.1", "1609.1", "D6503-99", "biogx-ecoli",
		"method-c", "easygel", "petrifilm", "544", "545", "546", "aquatox", "BASINS", "cormix", "DMR", "EnDDaT", "swimCast", "nowCast",
		"virtualBeach", "wasp7", "unknown", "other",
	}
)

const (
	geomean  = "geomean"
	spatial  = "spatial"
	temporal = "temporal"
)

var guidPattern = regexp.MustCompile(`^[A-Za-z]{2,6}(\.[A-Za-z0-9-]{1,63})+/[A-Za-z0-9-]{1,64}$`)

// PublisherOf returns the part of the GUIDs of a publisher that names it: the domain name of a host, reversed. It is false for a host that
// no GUID can name, such as an address or a name with a first label of more than 6 letters.
func PublisherOf(host string) (publisher string, ok bool) {
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	slices.Reverse(labels)
	publisher = strings.Join(labels, ".")
	return publisher, guidPattern.MatchString(publisher + "/1")
}

// Check returns an error that names the first member with an invalid value.
func (r *Record) Check() error {
	guids := append([]string{r.GUID}, r.References...)
	if r.Revokes != "" {
		guids = append(guids, r.Revokes)
	}
	for _, guid := range guids {
		if !guidPattern.MatchString(guid) {
			return fmt.Errorf("guid %.80q: want a reversed domain name, a slash, and at most 64 letters, digits and -", guid)
		}
	}
	if r.Revokes == "" && r.Explanation != "" {
		return errors.New("an explanation without the guid that is revoked")
	}
	for _, t := range []struct {
		name  string
		value time.Time
	}{{"publicationTime", r.Published}, {"collectionTime", r.Sample.Collected}} {
		if t.value.IsZero() {
			return fmt.Errorf("%s is missing", t.name)
		}
	}
	if err := r.Location.check(); err != nil {
		return fmt.Errorf("location: %w", err)
	}
	if err := r.Sample.check(); err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	return nil
}

func (l *Location) check() error {
	switch {
	case l.ID == "":
		return errors.New("id is empty")
	case l.Name == "":
		return errors.New("name is empty")
	case !(l.Lat >= -90 && l.Lat <= 90): // NaN too
		return fmt.Errorf("latitude %v: want -90 to 90", l.Lat)
	case !(l.Lon >= -180 && l.Lon <= 180):
		return fmt.Errorf("longitude %v: want -180 to 180", l.Lon)
	}
	return nil
}

func (s *Sample) check() error {
	if err := s.Location.check(); err != nil {
		return fmt.Errorf("location: %w", err)
	}
	for _, v := range []struct {
		name, value string
		allowed     []string
	}{{"kind", s.Kind, kinds}, {"method", s.Method, methods}, {"substance", s.Substance, substances}, {"units", s.Units, units}} {
		if !slices.Contains(v.allowed, v.value) {
			return fmt.Errorf("%s %.80q: want one of %q", v.name, v.value, v.allowed)
		}
	}
	switch {
	case s.Kind == geomean && s.Variant != spatial && s.Variant != temporal:
		return fmt.Errorf("variant %.80q of a geomean: want spatial or temporal", s.Variant)
	case s.Kind != geomean && s.Variant != "":
		return fmt.Errorf("variant %.80q: want none, since kind is %s", s.Variant, s.Kind)
	case s.Variant != temporal && s.Hours != 0:
		return fmt.Errorf("hours %v: want none, since only a temporal geomean has hours", s.Hours)
	case !(s.Hours >= 0) || math.IsInf(s.Hours, 1):
		return fmt.Errorf("hours %v: want 0 or more", s.Hours)
	case !(s.Result >= 0) || math.IsInf(s.Result, 1):
		return fmt.Errorf("result %v: want 0 or more", s.Result)
	}
	return nil
}
