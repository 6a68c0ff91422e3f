package data

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The reasons why a [Decision] cannot be carried out, which errors wrap.
var (
	ErrNotClosed  = errors.New("the lake is not closed")
	ErrIssuers    = errors.New("several authorities have closed the lake")
	ErrChangedNow = errors.New("the statements about the lake have changed since they were shown")
)

// A Decision is what an authority decides about bathing in one lake: to close it, or to open it again.
type Decision struct {
	Lake   LakeID
	Reopen bool
	Issuer string    // the authority; to open a lake again it may be empty if only one has closed it
	At     time.Time // when it was decided, in UTC to the second

	// Statement is the one that ends, to open a lake again; empty for all of the issuer.
	Statement AdvisoryID

	// The rest is about a closure. If the issuer has closed the lake before, a text or an address that is not known stays as it is.
	Cause               Cause
	Until               time.Time // the first moment when it is no longer valid; zero if that is not known yet
	TextEN, TextDE, URL Optional[string]

	// Seen is the [Fingerprint] of the changes that were shown to the person who decides. With others nothing is written. Empty if none were shown.
	Seen string
}

// A StatementChange is what a Decision does to an official statement.
type StatementChange struct {
	Before *Advisory // nil for a new one
	After  Advisory
}

// A Decided is a decision that was carried out.
type Decided struct {
	Number  int64 // of its import
	At      time.Time
	By      string
	Changes []StatementChange
	Undone  bool // the import was taken back
}

// Closures returns the closures of a lake that are in force at a time or will be, the one that counts first.
func Closures(statements []Advisory, lake LakeID, at time.Time) []Advisory {
	var found []Advisory
	for i := range statements {
		if a := &statements[i]; a.LakeID == lake && a.Kind == Closure && a.Withdrawn.IsZero() && (a.ValidUntil.IsZero() || at.Before(a.ValidUntil)) {
			found = append(found, *a)
		}
	}
	slices.SortFunc(found, func(a, b Advisory) int {
		switch {
		case a.Outranks(&b):
			return -1
		case b.Outranks(&a):
			return 1
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	return found
}

// IssuerFor returns the authority that usually makes statements about a lake: that of the last one about it or, if there is none, the only
// one of all statements. It is empty if that is not known; others are all authorities then.
func IssuerFor(statements []Advisory, lake LakeID) (issuer string, others []string) {
	var last *Advisory
	for i := range statements {
		a := &statements[i]
		if a.LakeID == lake && (last == nil || a.Issued.After(last.Issued)) {
			last = a
		}
		if !slices.Contains(others, a.Issuer) {
			others = append(others, a.Issuer)
		}
	}
	switch {
	case last != nil:
		return last.Issuer, nil
	case len(others) == 1:
		return others[0], nil
	}
	slices.Sort(others)
	return "", others
}

// Apply returns what a decision changes, given all statements; none if all is as decided. An authority has at most one closure of a lake
// then: to close a closed lake changes its closure, and ends further ones. Closures by other authorities stay.
func (d *Decision) Apply(stored []Advisory) ([]StatementChange, error) {
	plan := d.close
	if d.Reopen {
		plan = d.reopen
	}
	changes, err := plan(stored)
	if err == nil && len(changes) > 0 && d.Seen != "" && d.Seen != Fingerprint(changes) {
		err = ErrChangedNow
	}
	return changes, err
}

func (d *Decision) close(stored []Advisory) ([]StatementChange, error) {
	if d.Issuer == "" {
		return nil, errors.New("the issuer is missing: want the authority")
	}
	if !d.Until.IsZero() && !d.Until.After(d.At) {
		return nil, fmt.Errorf("until %s is over: want a time after %s, or none", d.Until.UTC().Format(time.RFC3339), d.At.UTC().Format(time.RFC3339))
	}
	own := slices.DeleteFunc(Closures(stored, d.Lake, d.At), func(a Advisory) bool { return a.Issuer != d.Issuer })
	if len(own) == 0 {
		id, err := d.newID(stored)
		if err != nil {
			return nil, err
		}
		a := Advisory{ID: id, LakeID: d.Lake, Kind: Closure, Cause: d.Cause, Issuer: d.Issuer, TextEN: d.TextEN.Value, TextDE: d.TextDE.Value,
			URL: d.URL.Value, Issued: d.At, ValidFrom: d.At, ValidUntil: d.Until}
		return []StatementChange{{nil, a}}, nil
	}
	var changes []StatementChange
	before := own[0]
	after := before
	after.Cause, after.ValidUntil = d.Cause, d.Until
	for _, text := range []struct {
		to *string
		is Optional[string]
	}{{&after.TextEN, d.TextEN}, {&after.TextDE, d.TextDE}, {&after.URL, d.URL}} {
		if text.is.Known {
			*text.to = text.is.Value
		}
	}
	if d.At.Before(after.ValidFrom) {
		after.ValidFrom = d.At
	}
	if after != before {
		after.Issued = d.At // it is issued again
		changes = append(changes, StatementChange{&before, after})
	}
	for _, a := range own[1:] {
		changes = append(changes, d.withdraw(a))
	}
	return changes, nil
}

func (d *Decision) reopen(stored []Advisory) (changes []StatementChange, err error) {
	if i := slices.IndexFunc(stored, func(a Advisory) bool { return a.ID == d.Statement }); d.Statement != "" && i >= 0 && !stored[i].Withdrawn.IsZero() {
		return nil, nil
	}
	var issuers []string
	for _, a := range Closures(stored, d.Lake, d.At) {
		if !slices.Contains(issuers, a.Issuer) {
			issuers = append(issuers, a.Issuer)
		}
		if (d.Issuer == "" || a.Issuer == d.Issuer) && (d.Statement == "" || a.ID == d.Statement) {
			changes = append(changes, d.withdraw(a))
		}
	}
	switch {
	case len(changes) == 0 && d.Issuer != "" && len(issuers) > 0:
		return nil, fmt.Errorf("%w by %q, but by %s", ErrNotClosed, d.Issuer, quoted(issuers))
	case len(changes) == 0:
		return nil, ErrNotClosed
	case d.Issuer == "" && d.Statement == "" && len(issuers) > 1:
		return nil, fmt.Errorf("%w: want one of %s", ErrIssuers, quoted(issuers))
	}
	return changes, nil
}

func quoted(texts []string) string {
	parts := make([]string, len(texts))
	for i, t := range texts {
		parts[i] = strconv.Quote(t)
	}
	return strings.Join(parts, ", ")
}

// withdraw returns the change that ends a statement.
func (d *Decision) withdraw(a Advisory) StatementChange {
	before := a
	a.Withdrawn = d.At
	if a.Withdrawn.Before(a.Issued) { // by a clock that is ahead
		a.Withdrawn = a.Issued
	}
	return StatementChange{&before, a}
}

// newID returns the id of a new closure, made of the lake's and the time.
func (d *Decision) newID(stored []Advisory) (AdvisoryID, error) {
	lake, end := string(d.Lake), "_closed_"+d.At.UTC().Format("20060102T150405Z")
	if len(lake)+len(end) > maxLakeIDLen-len("_99") {
		hash := sha256.Sum256([]byte(lake))
		short := hex.EncodeToString(hash[:4])
		lake = lake[:maxLakeIDLen-len("_99")-len(end)-len(short)] + short
	}
	id := AdvisoryID(lake + end)
	for n := 2; ; n++ {
		i := slices.IndexFunc(stored, func(a Advisory) bool { return a.ID == id })
		switch {
		case i < 0:
			return id, nil
		case stored[i].Issuer == d.Issuer || n > 99:
			return "", ErrChangedNow // the authority closed the lake at that second, and opened it again
		}
		id = AdvisoryID(fmt.Sprintf("%s%s_%d", lake, end, n)) // another authority did
	}
}

// Fingerprint identifies changes: equal changes have equal fingerprints.
func Fingerprint(changes []StatementChange) string {
	hash := sha256.New()
	for _, c := range changes {
		before := c.Before
		if before == nil {
			before = new(Advisory)
		}
		for _, a := range []*Advisory{before, &c.After} {
			fmt.Fprintf(hash, "%q %q %d %d %q %q %q %q %d %d %d %d\n", a.ID, a.LakeID, a.Kind, a.Cause, a.Issuer, a.TextEN, a.TextDE, a.URL,
				a.Issued.Unix(), a.ValidFrom.Unix(), a.ValidUntil.Unix(), a.Withdrawn.Unix())
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
