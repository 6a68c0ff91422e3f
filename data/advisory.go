package data

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"limnomap/data/linetext"
)

// An Advisory is an official statement about a lake, such as the closure of its beach. It is made by an authority, never derived from
// a value.
type Advisory struct {
	ID     AdvisoryID
	LakeID LakeID
	Kind   AdvisoryKind
	Cause  Cause
	Issuer string // the authority, as people write it
	TextEN string // in English, lines separated by \n; may be empty
	TextDE string // in German; the same
	URL    string // of the authority's own page; may be empty

	// Times are in UTC to the second.
	Issued     time.Time
	ValidFrom  time.Time
	ValidUntil time.Time // the first moment when it is no longer valid; zero if that is not known yet
	Withdrawn  time.Time // when it was withdrawn; zero if it was not
}

// An AdvisoryID identifies an Advisory. It has the form of a [LakeID].
type AdvisoryID string

// ParseAdvisoryID returns s as an id, or an error that describes a valid id.
func ParseAdvisoryID(s string) (AdvisoryID, error) {
	id, err := ParseLakeID(s)
	return AdvisoryID(id), err
}

// An AdvisoryKind is what an Advisory says to bathers. A greater kind is graver.
type AdvisoryKind uint8

const (
	NoAdvisory AdvisoryKind = iota // the kind of no Advisory: no statement is active
	Season                         // "season": the bathing season begins or ends
	Info                           // "info": no warning
	Warning                        // "warning": bathing is discouraged
	Closure                        // "closure": bathing is forbidden
)

var advisoryKindNames = [...]string{NoAdvisory: "", Season: "season", Info: "info", Warning: "warning", Closure: "closure"}

// ParseAdvisoryKind reads closure, warning, info or season.
func ParseAdvisoryKind(s string) (AdvisoryKind, error) {
	return parseName(s, "kind", Closure, Warning, Info, Season)
}

// String returns the name of the kind; empty for NoAdvisory.
func (k AdvisoryKind) String() string { return advisoryKindNames[k] }

// A Cause is the reason of an Advisory.
type Cause uint8

const (
	OtherCause    Cause = iota // "other"
	Cyanobacteria              // "cyanobacteria"
	Bacteria                   // "bacteria": faecal bacteria
)

var causeNames = [...]string{OtherCause: "other", Cyanobacteria: "cyanobacteria", Bacteria: "bacteria"}

// ParseCause reads cyanobacteria, bacteria or other.
func ParseCause(s string) (Cause, error) {
	return parseName(s, "cause", Cyanobacteria, Bacteria, OtherCause)
}

func (c Cause) String() string { return causeNames[c] }

const (
	// maxAdvisoryTextRunes bounds a text of an Advisory: two pages.
	maxAdvisoryTextRunes = 4000
	// maxURLBytes is what browsers and proxies accept at least (RFC 9110, section 4.1, asks for 8,000).
	maxURLBytes = 2000
)

// ActiveAt reports whether the statement is valid at t: issued, begun, neither ended nor withdrawn.
func (a *Advisory) ActiveAt(t time.Time) bool {
	return !t.Before(a.Issued) && !t.Before(a.ValidFrom) &&
		(a.ValidUntil.IsZero() || t.Before(a.ValidUntil)) && (a.Withdrawn.IsZero() || t.Before(a.Withdrawn))
}

// Check returns an error that names the first column with an invalid value, the value, and the allowed values.
func (a *Advisory) Check() error {
	if _, err := ParseAdvisoryID(string(a.ID)); err != nil {
		return err
	}
	if _, err := ParseLakeID(string(a.LakeID)); err != nil {
		return fmt.Errorf("lake_%w", err)
	}
	switch {
	case a.Kind < Season || a.Kind > Closure:
		return fmt.Errorf("kind %d: want closure, warning, info or season", a.Kind)
	case a.Cause > Bacteria:
		return fmt.Errorf("cause %d: want cyanobacteria, bacteria or other", a.Cause)
	case a.Issuer == "":
		return fmt.Errorf("issuer is empty: want 1 to %d characters", maxTextRunes)
	}
	if err := checkText("issuer", a.Issuer); err != nil {
		return err
	}
	for _, text := range a.texts() {
		if err := checkLines(text.column, text.value); err != nil {
			return err
		}
	}
	if err := checkURL(a.URL); err != nil {
		return fmt.Errorf("url %.80q: %w", a.URL, err)
	}
	return a.checkTimes()
}

// checkLines returns an error if s cannot be shown as lines of text.
func checkLines(column, s string) error {
	if n := utf8.RuneCountInString(s); n > maxAdvisoryTextRunes {
		return fmt.Errorf("%s %.80q has %d characters: want at most %d", column, s, n, maxAdvisoryTextRunes)
	}
	for line := range strings.SplitSeq(s, "\n") {
		if err := checkCharacters(column, line); err != nil {
			return err
		}
	}
	return nil
}

// CheckImport is like Check, and also returns an error if a text could change how other text looks, or cannot be seen, or
// if it was withdrawn before it was issued: such a stored statement does no harm, since it is never active.
func (a *Advisory) CheckImport() error {
	if err := a.Check(); err != nil {
		return err
	}
	if !a.Withdrawn.IsZero() && a.Withdrawn.Before(a.Issued) {
		return fmt.Errorf("withdrawn %s is before issued %s: want a later time, or none; a day is its midnight in UTC",
			a.Withdrawn.UTC().Format(time.RFC3339), a.Issued.UTC().Format(time.RFC3339))
	}
	for _, text := range append(a.texts(), lakeText{"issuer", a.Issuer}) {
		for line := range strings.SplitSeq(text.value, "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			if err := linetext.Check(line); err != nil {
				return fmt.Errorf("%s %.80q: %w", text.column, line, err)
			}
		}
	}
	return nil
}

func (a *Advisory) texts() []lakeText {
	return []lakeText{{"text_en", a.TextEN}, {"text_de", a.TextDE}}
}

// checkURL returns an error for an address that is not empty and that a page must not link to.
func checkURL(s string) error {
	if s == "" {
		return nil
	}
	if !isVisible(s) {
		return errors.New("want an address of visible characters: percent-encode all others")
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || len(s) > maxURLBytes {
		return fmt.Errorf("want an address that begins with https:// or http://, without a user, of at most %d bytes", maxURLBytes)
	}
	return nil
}

// isVisible reports whether each character of an address can be seen, and changes no other.
func isVisible(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) && linetext.Check(s) == nil
}

// StoredURL returns an address as it may be shown that was stored when addresses could have any character: those beyond ASCII are percent-encoded, as
// browsers do it. One that becomes too long is empty. The closure that it belongs to stays.
func StoredURL(s string) string {
	if s == "" || isVisible(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() > maxURLBytes {
		return ""
	}
	return b.String()
}

func (a *Advisory) checkTimes() error {
	for _, t := range []struct {
		column   string
		value    time.Time
		optional bool
	}{{"issued", a.Issued, false}, {"valid_from", a.ValidFrom, false}, {"valid_until", a.ValidUntil, true}, {"withdrawn", a.Withdrawn, true}} {
		if t.optional && t.value.IsZero() {
			continue
		}
		if d := DateOf(t.value); t.value.IsZero() || d < MinDate || d > MaxDate {
			return fmt.Errorf("%s %s: want a time from %s to %s", t.column, t.value.UTC().Format(time.RFC3339), MinDate, MaxDate)
		}
	}
	if !a.ValidUntil.IsZero() && !a.ValidUntil.After(a.ValidFrom) {
		return errors.New("valid_until is not after valid_from: want a later time, or none")
	}
	return nil
}

// Outranks reports whether s is graver than other. Of equally grave statements the one that ends last counts, since a client that shows only
// this one must not show an open lake when it ends; of those the one issued last.
func (s *Advisory) Outranks(other *Advisory) bool {
	if s.Kind != other.Kind {
		return s.Kind > other.Kind
	}
	if s.ValidUntil.IsZero() != other.ValidUntil.IsZero() {
		return s.ValidUntil.IsZero()
	}
	return cmp.Or(s.ValidUntil.Compare(other.ValidUntil), s.Issued.Compare(other.Issued)) > 0
}
