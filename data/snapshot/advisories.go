package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"limnomap/data"
)

// Advisories are official statements, in the order of lake and id. They are immutable; nil holds none.
type Advisories struct {
	all   []data.Advisory
	lakes []int32 // of all[i]: the index of its lake
}

// NewAdvisories returns the statements about lakes, which are in ascending order of id. It leaves out those about other lakes: a later
// revision of a Source may have them.
func NewAdvisories(lakes []data.Lake, statements []data.Advisory) *Advisories {
	a := new(Advisories)
	sorted := slices.Clone(statements)
	slices.SortFunc(sorted, func(x, y data.Advisory) int {
		return cmp.Or(strings.Compare(string(x.LakeID), string(y.LakeID)), strings.Compare(string(x.ID), string(y.ID)))
	})
	for _, s := range sorted {
		i, ok := slices.BinarySearchFunc(lakes, s.LakeID, func(l data.Lake, id data.LakeID) int { return strings.Compare(string(l.ID), string(id)) })
		if ok {
			a.all, a.lakes = append(a.all, s), append(a.lakes, int32(i))
		}
	}
	return a
}

// readAdvisories returns all official statements of a source, and their revision.
func readAdvisories(ctx context.Context, src Source) ([]data.Advisory, data.Revision, error) {
	statements, revision, err := src.Advisories(ctx)
	if err != nil {
		return nil, revision, err
	}
	for i := range statements {
		if err := statements[i].Check(); err != nil {
			return nil, revision, fmt.Errorf("official statement %.80q: %w", statements[i].ID, err)
		}
	}
	return statements, revision, nil
}

// withStatements returns a copy of s with the official statements of a source. The rest is shared, but for the views that are held: they show
// statements. If anything else but statements and forecasts is different in the source, the number of the copy's Revision stays that of s.
func (s *Snapshot) withStatements(ctx context.Context, src Source, opts *Options) (*Snapshot, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	statements, revision, err := readAdvisories(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	c := *s
	c.StatementsOf, c.Revision.ChangedAt = revision.Number, revision.ChangedAt
	if revision.OnlyStatementsSince(s.Revision) {
		c.Revision = revision
		c.Revision.Forecasts = s.Revision.Forecasts // they are not read here
	}
	if err := c.setCaches(ctx, src, &o); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	c.setAdvisories(statements)
	c.setActive(o.Present())
	return &c, nil
}

// All returns all statements with the index of the lake of each, including those that are not valid any more. The slices are shared and
// must not be changed.
func (a *Advisories) All() (statements []data.Advisory, lakes []int32) {
	if a == nil {
		return nil, nil
	}
	return a.all, a.lakes
}

// Of returns all statements about the lake with that index. The slice is shared and must not be changed.
func (a *Advisories) Of(lake int) []data.Advisory {
	if a == nil {
		return nil
	}
	first, _ := slices.BinarySearch(a.lakes, int32(lake))
	last, _ := slices.BinarySearch(a.lakes, int32(lake)+1)
	return a.all[first:last]
}

// ActiveAt returns the statements that are valid at present, and the first later moment, by the clock of p.Now, when others are; the zero time if none
// ever are.
func (a *Advisories) ActiveAt(p data.Present) (active *ActiveAdvisories, next time.Time) {
	active = new(ActiveAdvisories)
	statements, lakes := a.All()
	for i := range statements {
		s := &statements[i]
		if p.Valid(s) {
			active.valid = append(active.valid, int32(i))
			active.add(lakes[i], s)
		}
		for _, change := range []time.Time{s.Issued, s.ValidFrom, s.ValidUntil, s.Withdrawn} {
			if moment, ok := p.Until(change); ok && (next.IsZero() || moment.Before(next)) {
				next = moment
			}
		}
	}
	return active, next
}

// ActiveAdvisories are the gravest statement of each lake that has one at some moment. They are immutable; nil holds none.
type ActiveAdvisories struct {
	lakes   []int32 // ascending
	gravest []*data.Advisory
	valid   []int32 // of all statements, the valid ones, also those that are not the gravest: they are told too
}

// add adds a statement about a lake, which is the last one added or a later one.
func (a *ActiveAdvisories) add(lake int32, s *data.Advisory) {
	n := len(a.lakes)
	if n == 0 || a.lakes[n-1] != lake {
		a.lakes, a.gravest = append(a.lakes, lake), append(a.gravest, s)
	} else if s.Outranks(a.gravest[n-1]) {
		a.gravest[n-1] = s
	}
}

// Of returns the gravest active statement about the lake with that index, of equally grave ones the one that ends last; or nil.
func (a *ActiveAdvisories) Of(lake int) *data.Advisory {
	if a == nil || len(a.lakes) == 0 {
		return nil
	}
	if i, ok := slices.BinarySearch(a.lakes, int32(lake)); ok {
		return a.gravest[i]
	}
	return nil
}

// Kind returns the kind of the gravest active statement about the lake with that index, or NoAdvisory.
func (a *ActiveAdvisories) Kind(lake int) data.AdvisoryKind {
	if s := a.Of(lake); s != nil {
		return s.Kind
	}
	return data.NoAdvisory
}

// Equal reports whether a and b hold the same statements.
func (a *ActiveAdvisories) Equal(b *ActiveAdvisories) bool {
	equal := func(x, y *data.Advisory) bool { return *x == *y }
	if a == nil || b == nil {
		return (a == nil || len(a.lakes) == 0) && (b == nil || len(b.lakes) == 0)
	}
	return slices.Equal(a.lakes, b.lakes) && slices.EqualFunc(a.gravest, b.gravest, equal)
}
