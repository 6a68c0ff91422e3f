package data_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"limnomap/data"
)

func TestDecisionCloses(t *testing.T) {
	now := at("2026-07-05T12:00:00Z")
	d := data.Decision{Lake: "a", Issuer: "Amt", At: now, Cause: data.Bacteria, Until: at("2026-07-10T00:00:00Z"), TextDE: data.Known("Nicht baden.")}
	added, err := d.Apply(nil)
	want := data.Advisory{ID: "a_closed_20260705T120000Z", LakeID: "a", Kind: data.Closure, Cause: data.Bacteria, Issuer: "Amt", TextDE: "Nicht baden.",
		Issued: now, ValidFrom: now, ValidUntil: d.Until}
	if err != nil || len(added) != 1 || added[0].Before != nil || added[0].After != want {
		t.Fatalf("Apply = %+v, %v, want the new statement %+v", added, err, want)
	}
	if err := added[0].After.CheckImport(); err != nil {
		t.Error(err)
	}
	stored := []data.Advisory{want}
	if again, err := d.Apply(stored); err != nil || len(again) > 0 {
		t.Errorf("the same decision again: %+v, %v, want no change", again, err)
	}

	later := d
	later.At, later.Until, later.TextDE = at("2026-07-06T12:00:00Z"), at("2026-07-20T00:00:00Z"), data.Optional[string]{}
	extended := want
	extended.Issued, extended.ValidUntil = later.At, later.Until
	changes, err := later.Apply(stored)
	if err != nil || len(changes) != 1 || *changes[0].Before != want || changes[0].After != extended {
		t.Errorf("closed for longer: %+v, %v, want %+v: the text stays, it is issued again", changes, err, extended)
	}

	// Another authority's closure stays, and a second one of the same ends.
	other, second := want, want
	other.ID, other.Issuer = "o", "Other"
	second.ID, second.ValidUntil = "second", at("2026-07-08T00:00:00Z")
	changes, err = later.Apply([]data.Advisory{second, other, want})
	if err != nil || len(changes) != 2 || changes[0].After != extended || changes[1].After.ID != "second" || changes[1].After.Withdrawn != later.At {
		t.Errorf("with a second closure: %+v, %v, want it withdrawn", changes, err)
	}
	// One that is over or withdrawn is not changed.
	over := want
	over.ID, over.ValidUntil = "over", now
	if changes, err := d.Apply([]data.Advisory{over}); err != nil || len(changes) != 1 || changes[0].Before != nil {
		t.Errorf("after a closure that is over: %+v, %v, want a new one", changes, err)
	}

	past := d
	past.Until = now
	if _, err := past.Apply(nil); err == nil || !strings.Contains(err.Error(), "2026-07-05T12:00:00Z is over") {
		t.Errorf("closed until now: %v", err)
	}
	same := want
	same.Issuer = "Other"
	if changes, err := d.Apply([]data.Advisory{same}); err != nil || len(changes) != 1 || changes[0].After.ID != want.ID+"_2" {
		t.Errorf("two authorities at the same second: %+v, %v", changes, err)
	}
	long := d
	long.Lake = data.LakeID(strings.Repeat("l", 64))
	if changes, err := long.Apply(nil); err != nil || changes[0].After.CheckImport() != nil {
		t.Errorf("the lake with the longest id: %+v, %v", changes, err)
	}
}

func TestDecisionReopens(t *testing.T) {
	now := at("2026-07-05T12:00:00Z")
	own, other := closure(), closure()
	other.ID, other.Issuer = "other", "Other"
	ended := own
	ended.Withdrawn = now
	d := data.Decision{Lake: "a", Reopen: true, At: now}
	changes, err := d.Apply([]data.Advisory{own})
	if err != nil || len(changes) != 1 || *changes[0].Before != own || changes[0].After != ended {
		t.Errorf("Apply = %+v, %v, want %+v", changes, err, ended)
	}
	if _, err := d.Apply([]data.Advisory{ended}); !errors.Is(err, data.ErrNotClosed) {
		t.Errorf("a lake that is open: %v", err)
	}
	if _, err := d.Apply([]data.Advisory{own, other}); !errors.Is(err, data.ErrIssuers) || !strings.Contains(err.Error(), `"Other"`) {
		t.Errorf("a lake that two authorities have closed: %v", err)
	}
	d.Issuer = own.Issuer
	if again, err := d.Apply([]data.Advisory{own, other}); err != nil || !reflect.DeepEqual(again, changes) {
		t.Errorf("one of two authorities opens the lake: %+v, %v, want %+v", again, err, changes)
	}
	d.Issuer = "Nobody"
	if _, err := d.Apply([]data.Advisory{own}); !errors.Is(err, data.ErrNotClosed) || !strings.Contains(err.Error(), own.Issuer) {
		t.Errorf("an authority that has not closed the lake: %v", err)
	}
	one := data.Decision{Lake: "a", Reopen: true, At: now, Statement: "other"}
	if changes, err := one.Apply([]data.Advisory{own, other}); err != nil || len(changes) != 1 || changes[0].After.ID != "other" {
		t.Errorf("one statement ends: %+v, %v", changes, err)
	}
	one.Statement = own.ID
	if changes, err := one.Apply([]data.Advisory{ended}); err != nil || len(changes) > 0 {
		t.Errorf("a statement ends that was withdrawn: %+v, %v, want no change", changes, err)
	}
}

// What was shown must be what is written.
func TestDecisionThatWasSeen(t *testing.T) {
	d := data.Decision{Lake: "a", Issuer: "Amt", At: at("2026-07-05T12:00:00Z")}
	changes, err := d.Apply(nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Seen = data.Fingerprint(changes)
	if again, err := d.Apply(nil); err != nil || !reflect.DeepEqual(again, changes) {
		t.Errorf("Apply = %+v, %v, want %+v", again, err, changes)
	}
	closed := changes[0].After
	if again, err := d.Apply([]data.Advisory{closed}); err != nil || len(again) > 0 {
		t.Errorf("a second time: %+v, %v, want no change", again, err)
	}
	between := closed
	between.Cause, between.ID = data.Bacteria, "between"
	if _, err := d.Apply([]data.Advisory{between}); !errors.Is(err, data.ErrChangedNow) {
		t.Errorf("after another closure: %v", err)
	}
	closed.Withdrawn = closed.Issued
	if _, err := d.Apply([]data.Advisory{closed}); !errors.Is(err, data.ErrChangedNow) {
		t.Errorf("after the lake was opened again: %v", err)
	}
}

func TestIssuerFor(t *testing.T) {
	a, b := closure(), closure()
	b.LakeID, b.Issuer = "b", "Other"
	for _, c := range []struct {
		name   string
		stored []data.Advisory
		lake   data.LakeID
		want   string
		others int
	}{
		{"none", nil, "a", "", 0}, {"of the lake", []data.Advisory{b, a}, "a", a.Issuer, 0}, {"the only one", []data.Advisory{a}, "c", a.Issuer, 0}, {"several", []data.Advisory{a, b}, "c", "", 2},
	} {
		if got, others := data.IssuerFor(c.stored, c.lake); got != c.want || c.want == "" && len(others) != c.others {
			t.Errorf("%s: IssuerFor = %q, %q, want %q", c.name, got, others, c.want)
		}
	}
}
