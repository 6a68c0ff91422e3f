package ingest

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/linetext"
	"limnomap/data/store"
)

// maxBadRows is how many bad rows a Report holds in full: enough to see the problem of a file.
const maxBadRows = 20

// A BadRow is a row that was rejected. One of [Values] has no number.
type BadRow struct {
	File   string
	Number int    // of the row's first line, or which feature, statement or record of a file in JSON, which may be all one line; from 1
	ID     string // of the row's lake; empty if the row has no id that can be read
	Reason string // the column, its value and the allowed values

	unit unit // of Number
}

// String returns b in one line, such as `lakes.csv, line 3 (de_mv_schwerin): lat is missing`.
func (b BadRow) String() string {
	if b.Number == 0 {
		return fmt.Sprintf("%s, lake %.80q: %s", b.File, b.ID, b.Reason)
	}
	id := ""
	if b.ID != "" {
		id = " (" + b.ID + ")"
	}
	return fmt.Sprintf("%s, %s %d%s: %s", b.File, b.unit, b.Number, id, b.Reason)
}

// A Report is the result of an import. If it wrote something, or would have but for DryRun, Read = Added + Changed +
// Unchanged + Older + Worse + Rejected + LeftOut + Combined. Otherwise all but Read and Rejected are 0.
type Report struct {
	Read, Added, Changed, Unchanged, Rejected int
	Older                                     int           // values of a satellite that have an older version than those stored, which are kept
	Worse                                     int           // gaps and values of a satellite with fewer data than those stored of their day, which are kept
	LeftOut                                   int           // rows such as those of coastal waters, or records without an advisory, which are not errors
	Combined                                  int           // rows of the Water Quality Portal that are a part of an observation of another one
	Untimed                                   int           // its rows with a time in a zone that is not known
	Samples                                   int           // results of samples, which are not stored since they have no chlorophyll
	Censored                                  int           // values such as "<15", taken as half the limit
	Ignored                                   []string      // unknown columns, each once, at most 31
	Bad                                       []BadRow      // the first 20; Rejected counts them all
	Encodings                                 []Encoding    // of files that are not UTF-8, at most 31
	LeftOutReasons                            []Reason      // why rows were left out, in order of appearance, at most 31
	Reasons                                   []Reason      // why rows were rejected, in order of appearance, at most 20
	Unknown                                   []data.LakeID // of observations and statements, but not in the store, each once, at most 31
	Written                                   bool          // false when anything was rejected and SkipBad was not set
	DryRun                                    bool          // whether it would have been written
}

// An Encoding is that of a file.
type Encoding struct{ File, Name string }

// addEncodings adds the encodings of files.
func (r *Report) addEncodings(of []Encoding) {
	r.Encodings = append(r.Encodings, of[:max(min(len(of), maxShownColumns+1-len(r.Encodings)), 0)]...)
}

// A Reason is how many rows were rejected, or left out, for the same reason.
type Reason struct {
	Text string
	Rows int
}

func (r *Report) ignore(columns []string) {
	for _, c := range columns {
		if len(r.Ignored) <= maxShownColumns && !slices.Contains(r.Ignored, c) {
			r.Ignored = append(r.Ignored, c)
		}
	}
}

// add counts a row by what the store did with it. It returns false for a row that the store refused.
func (r *Report) add(c store.Change) bool {
	switch c {
	case store.Added:
		r.Added++
	case store.Changed:
		r.Changed++
	case store.Unchanged:
		r.Unchanged++
	case store.OlderVersion:
		r.Older++
	case store.WorseThanStored:
		r.Worse++
	default:
		return false
	}
	return true
}

// reject adds a row that was rejected, at an index of the list of bad rows.
func (r *Report) reject(bad BadRow, at int) {
	r.Rejected++
	if at < maxBadRows {
		r.Bad = slices.Insert(r.Bad, at, bad)
		r.Bad = r.Bad[:min(len(r.Bad), maxBadRows)]
	}
	r.Reasons = addReason(r.Reasons, bad.Reason, maxBadRows)
}

// leaveOut adds a row that was left out.
func (r *Report) leaveOut(reason string) {
	r.LeftOut++
	if len(r.LeftOutReasons) >= maxShownColumns && !slices.ContainsFunc(r.LeftOutReasons, func(of Reason) bool { return of.Text == reason }) {
		reason = otherReasons
	}
	r.LeftOutReasons = addReason(r.LeftOutReasons, reason, maxShownColumns+1)
}

// addReason adds a row to its reason, which is left out if there are so many others.
func addReason(reasons []Reason, text string, most int) []Reason {
	if i := slices.IndexFunc(reasons, func(of Reason) bool { return of.Text == text }); i >= 0 {
		reasons[i].Rows++
	} else if len(reasons) < most {
		reasons = append(reasons, Reason{text, 1})
	}
	return reasons
}

// otherReasons are those beyond the number that a Report holds.
const otherReasons = "other reasons"

// addUnknown adds a lake that is not in the store.
func (r *Report) addUnknown(id data.LakeID) {
	if len(r.Unknown) <= maxShownColumns && !slices.Contains(r.Unknown, id) {
		r.Unknown = append(r.Unknown, id)
	}
}

// clearResults leaves only Read and Rejected, for an import that wrote nothing.
func (r *Report) clearResults() {
	r.Added, r.Changed, r.Unchanged, r.Older, r.Worse = 0, 0, 0, 0, 0
	r.LeftOut, r.Combined, r.Untimed, r.Samples, r.Censored = 0, 0, 0, 0, 0
	r.LeftOutReasons = nil
}

// String returns r in plain sentences, one on each line.
func (r Report) String() string {
	var b strings.Builder
	say := func(n int, what, text string) {
		if n > 0 {
			fmt.Fprintf(&b, "%s %s.\n", count(n, what), text)
		}
	}
	switch {
	case r.Written || r.DryRun:
		added := "added"
		if r.DryRun {
			added = "would be added"
		}
		fmt.Fprintf(&b, "%s read: %d %s, %d changed, %d unchanged, %d rejected.\n", count(r.Read, "row"), r.Added, added, r.Changed, r.Unchanged, r.Rejected)
	default:
		fmt.Fprintf(&b, "%s read, %d rejected.\n", count(r.Read, "row"), r.Rejected)
	}
	say(r.Older, "row", "of an older version: what is stored is kept")
	say(r.Worse, "row", "with fewer data than the stored value of their day: what is stored is kept")
	say(r.Combined, "row", "combined with others of the same lake, day and source")
	switch reasons := r.LeftOutReasons; {
	case r.LeftOut > 0 && r.Samples > 0:
		others := r.LeftOut
		for _, reason := range reasons {
			say(reason.Rows, "row", "left out: "+reason.Text)
			others -= reason.Rows
		}
		say(others, "row", "left out, without an advisory")
	case len(reasons) == 1:
		say(r.LeftOut, "row", "left out: "+reasons[0].Text)
	case len(reasons) > 1:
		fmt.Fprintf(&b, "%s left out:\n", count(r.LeftOut, "row"))
		for _, reason := range slices.SortedStableFunc(slices.Values(reasons), func(a, b Reason) int { return b.Rows - a.Rows }) {
			fmt.Fprintf(&b, "  %s: %s.\n", count(reason.Rows, "row"), reason.Text)
		}
	}
	say(r.Untimed, "row", "without a time of day: the time zone is missing or not known")
	say(r.Samples, "sample value", "not stored: an observation needs chlorophyll, which Swim Guide's standard does not have")
	say(r.Censored, "value", "below a limit of detection, such as <15: half the limit was taken")
	for _, e := range r.Encodings {
		fmt.Fprintf(&b, "%s is not UTF-8: it was read as %s (--encoding says another one).\n", e.File, e.Name)
	}
	if len(r.Ignored) > 0 {
		fmt.Fprintf(&b, "Ignored columns, since their names are not known: %s.\n", quoted(r.Ignored))
	}
	for _, bad := range r.Bad {
		fmt.Fprintf(&b, "%s.\n", bad)
	}
	if more := r.Rejected - len(r.Bad); more > 0 {
		fmt.Fprintf(&b, "And %s more.\nWhy rows were rejected:\n", count(more, "rejected row"))
		for _, reason := range r.Reasons {
			fmt.Fprintf(&b, "  %s: %s.\n", count(reason.Rows, "row"), reason.Text)
		}
	}
	if len(r.Unknown) > 0 {
		fmt.Fprintf(&b, "Lakes that the database does not hold: %s.\n", quoted(r.Unknown))
	}
	switch {
	case r.DryRun:
		b.WriteString("Nothing was written: this was a dry run.\n")
	case !r.Written:
		b.WriteString("Nothing was written. Correct these rows, or import the others with --skip-bad.\n")
	}
	return linetext.Escape(b.String()) // names of files and columns are not ours
}

// WriteTo writes the result of String.
func (r Report) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, r.String())
	return int64(n), err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
