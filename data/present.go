package data

import "time"

// A Present is what a process takes for the present time. While its clock is in doubt (see data/clock), there are two such times.
type Present struct {
	Now  time.Time
	Also time.Time // zero without a doubt

	past bool
}

// At is t without a doubt.
func At(t time.Time) Present { return Present{Now: t} }

// Past is the moment t of a map of an earlier week: what was issued later was not known.
func Past(t time.Time) Present { return Present{Now: t, past: true} }

// Doubtful reports whether there are two times.
func (p Present) Doubtful() bool { return !p.Also.IsZero() }

// Valid reports whether a statement is valid at present, or may be: in doubt a beach is rather closed for too long than open too early. A statement that
// one has was issued: before that time the clock is behind.
func (p Present) Valid(a *Advisory) bool {
	return p.Either(func(t time.Time) bool {
		if !p.past && t.Before(a.Issued) {
			t = a.Issued
		}
		return a.ActiveAt(t)
	})
}

// Either reports whether something is so at one of the times.
func (p Present) Either(is func(time.Time) bool) bool {
	return is(p.Now) || p.Doubtful() && is(p.Also)
}

// Until returns the moment, by the clock of Now, when it is t by the first of the clocks that is not past it yet; false if all are.
func (p Present) Until(t time.Time) (moment time.Time, ok bool) {
	switch {
	case p.Doubtful() && t.After(p.Also) && (!t.After(p.Now) || p.Also.After(p.Now)):
		return p.Now.Add(t.Sub(p.Also)), true
	case t.After(p.Now):
		return t, true
	}
	return time.Time{}, false
}

// ByClock returns the present times of a clock that is never in doubt.
func ByClock(now func() time.Time) func() Present {
	return func() Present { return At(now()) }
}
