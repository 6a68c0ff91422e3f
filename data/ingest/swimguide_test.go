package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
	"limnomap/data/swimguide"
)

func july(day, hour int) time.Time { return time.Date(2026, 7, day, hour, 0, 0, 0, time.UTC) }

// aSample is a record with an advisory, published on that day of July 2026 at 8.
func aSample(guid string, day int, changes ...func(*swimguide.Record)) swimguide.Record {
	at := swimguide.Location{ID: "x", Name: "See X", Lat: 50, Lon: 10}
	r := swimguide.Record{
		GUID: "de.example/" + guid, Published: july(day, 8), Organization: "Amt", AdvisoryIssued: true, Advisory: "No bathing.", Location: at,
		Sample: swimguide.Sample{Collected: july(day, 6), Location: at, Kind: "single", Method: "other", Substance: "cyanobacteria", Units: "cells", Result: 120000},
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func noAdvisory(r *swimguide.Record) { r.AdvisoryIssued, r.Advisory = false, "" }

func atLocation(id string) func(*swimguide.Record) {
	return func(r *swimguide.Record) { r.Location.ID = id }
}

func swimGuideDocument(tb testing.TB, records ...swimguide.Record) string {
	tb.Helper()
	content, err := swimguide.AppendHead(nil, july(9, 0))
	for i := range records {
		if i > 0 {
			content = append(content, swimguide.Between...)
		}
		if err == nil {
			content, err = records[i].Append(content)
		}
	}
	if err != nil {
		tb.Fatal(err)
	}
	return string(content) + swimguide.Tail
}

func warning(id string, day, until int) data.Advisory {
	return data.Advisory{ID: data.AdvisoryID("de.example_" + id), LakeID: "x", Kind: data.Warning, Cause: data.Cyanobacteria, Issuer: "Amt",
		TextEN: "No bathing.", Issued: july(day, 8), ValidFrom: july(day, 8), ValidUntil: july(until, 8)}
}

func updatedOn(day int) func(*swimguide.Record) {
	return func(r *swimguide.Record) { r.Updated = july(day, 8) }
}

func revoking(guid string) func(*swimguide.Record) {
	return func(r *swimguide.Record) { r.Revokes = "de.example/" + guid }
}

// reissued is a warning whose record was updated on that day.
func reissued(id string, day, updated, until int) data.Advisory {
	a := warning(id, day, until)
	a.Issued = july(updated, 8)
	return a
}

func withdrawnOn(day int, a data.Advisory) data.Advisory {
	a.Withdrawn = july(day, 8)
	return a
}

func TestSwimGuide(t *testing.T) {
	extended, withdrawn := reissued("1", 1, 4, 11), warning("1", 1, 3)
	withdrawn.Withdrawn = july(3, 8)
	elsewhere := warning("1", 1, 8)
	elsewhere.LakeID = "y"
	for _, test := range []struct {
		name  string
		files []string
		want  []data.Advisory
		left  int
	}{
		{"nothing follows", []string{swimGuideDocument(t, aSample("1", 1))}, []data.Advisory{warning("1", 1, 8)}, 0},
		{"updated", []string{swimGuideDocument(t, aSample("1", 1, updatedOn(4)))}, []data.Advisory{extended}, 0},
		{"a good sample follows, in another file", []string{swimGuideDocument(t, aSample("2", 9, noAdvisory)), swimGuideDocument(t, aSample("1", 1))},
			[]data.Advisory{warning("1", 1, 9)}, 1},
		{"revoked", []string{swimGuideDocument(t, aSample("1", 1), aSample("2", 3, noAdvisory, revoking("1")))},
			[]data.Advisory{withdrawn}, 1},
		{"no advisory", []string{swimGuideDocument(t, aSample("1", 1, noAdvisory, atLocation("of another country")))}, nil, 1},
		{"external id", []string{swimGuideDocument(t, aSample("1", 1, atLocation("8099")))}, []data.Advisory{elsewhere}, 0},
		{"byte-order mark", []string{"\ufeff" + swimGuideDocument(t, aSample("1", 1))}, []data.Advisory{warning("1", 1, 8)}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, "id,external_id,name,lat,lon\nx,x,See X,50,10\ny,8099,See Y,50,10\n")
			read := len(test.want) + test.left
			for _, added := range []int{len(test.want), 0} {
				r := mustImport(t, Advisories, s, inJuly(), test.files...) // which finds out that these are documents
				if !r.Written || r.Read != read || r.Added != added || r.Unchanged != len(test.want)-added || r.LeftOut != test.left || r.Samples != read {
					t.Errorf("report %+v, want %d of %d added and %d left out", r, added, read, test.left)
				}
			}
			if got := advisoriesOf(t, s); !slices.Equal(got, test.want) {
				t.Errorf("stored %+v, want %+v", got, test.want)
			}
		})
	}
}

// A record that occurs again with the same values, as in the documents of two days, is counted as unchanged.
func TestRepeatedSwimGuideRecords(t *testing.T) {
	s := newStoreWithLakes(t)
	before, after := swimGuideDocument(t, aSample("1", 1), aSample("2", 2, noAdvisory)), swimGuideDocument(t, aSample("1", 1), aSample("2", 2, noAdvisory), aSample("3", 3))
	before = strings.Replace(before, "2026-07-01T08:00:00Z", "2026-07-01T10:00:00+02:00", 1)
	r := mustImport(t, SwimGuide, s, inJuly(), before, after)
	if !r.Written || r.Read != 5 || r.Added != 2 || r.Unchanged != 1 || r.LeftOut != 2 || r.Samples != 5 {
		t.Errorf("report %+v", r)
	}
	want := "5 rows read: 2 added, 0 changed, 1 unchanged, 0 rejected.\n2 rows left out, without an advisory.\n" +
		"5 sample values not stored: an observation needs chlorophyll, which Swim Guide's standard does not have.\n"
	if r.String() != want {
		t.Errorf("report\n%swant\n%s", r, want)
	}
}

// What the standard does not have stays as it is stored. A withdrawn statement whose record is updated later is in force again.
func TestSwimGuideKeepsOtherColumns(t *testing.T) {
	s := newStoreWithLakes(t)
	mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, aSample("1", 1)))
	mustImport(t, Advisories, s, inJuly(), advisoryHeader+"de.example_1,x,warning,cyanobacteria,Amt,No bathing.,Badewarnung,https://example.org/1,2026-07-01T08:00:00Z,2026-07-01T08:00:00Z,2026-07-08T08:00:00Z,2026-07-02\n")
	undescribed := aSample("1", 1, func(r *swimguide.Record) { r.Updated, r.Advisory = july(3, 8), "" })
	if r := mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, undescribed)); r.Changed != 1 {
		t.Errorf("report %+v", r)
	}
	want := reissued("1", 1, 3, 10)
	want.TextDE, want.URL, want.Withdrawn = "Badewarnung", "https://example.org/1", time.Time{}
	if got := advisoriesOf(t, s); !slices.Equal(got, []data.Advisory{want}) {
		t.Errorf("stored %+v, want %+v", got, want)
	}
}

// A record whose statement is stored for another lake or issuer is rejected with its repetitions.
func TestSwimGuideOfOtherStatement(t *testing.T) {
	for name, change := range map[string]func(*swimguide.Record){
		"issuer": func(r *swimguide.Record) { r.Organization = "Stadt" },
		"lake":   atLocation("y"),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStoreWithLakes(t)
			mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, aSample("1", 1)))
			other := aSample("1", 1, change)
			r := mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, other), swimGuideDocument(t, other))
			want := "statement de.example_1 of its guid: " + otherStatement
			if r.Written || r.Rejected != 2 || r.Bad[0].Reason != want {
				t.Errorf("report %+v, want two records rejected: %s", r, want)
			}
			if got := advisoriesOf(t, s); !slices.Equal(got, []data.Advisory{warning("1", 1, 8)}) {
				t.Errorf("stored %+v", got)
			}
		})
	}
}

// A bad record is named in the report with the reason.
func TestBadSwimGuideRecords(t *testing.T) {
	good := swimGuideDocument(t, aSample("1", 1))
	bad := func(change func(*swimguide.Record)) string { return swimGuideDocument(t, aSample("1", 1, change)) }
	for _, test := range []struct{ name, text, want string }{
		{"unknown location", bad(func(r *swimguide.Record) { r.Location.ID, r.Location.Name = "8099", "Main Beach" }),
			`a.csv, record 1 (8099): the database holds no lake whose id or external_id is that of the location "8099" ("Main Beach"): import the lakes first`},
		{"location that is no id", bad(atLocation("a b")), `a.csv, record 1: the database holds no lake whose id or external_id is that of the location "a b"`},
		{"location of two lakes", bad(atLocation("y")), `the location "y" ("See X") is the id or external_id of the lakes y and z: want one lake`},
		{"published in the future", bad(func(r *swimguide.Record) { r.Published = july(12, 0) }), "publicationTime 2026-07-12T00:00:00Z: want a time from 1900 to 2026-07-11T12:00:00Z"},
		{"future end of another", swimGuideDocument(t, aSample("1", 1), aSample("2", 1, noAdvisory, func(r *swimguide.Record) { r.Published = july(31, 0) })), "a.csv, record 2 (x): publicationTime"},
		{"no organization", bad(func(r *swimguide.Record) { r.Organization = "" }), `a.csv, record 1 (x): organizationName "": want the authority, which issues the advisory`},
		{"organization without a name", bad(func(r *swimguide.Record) { r.Organization = "-" }), `organizationName "-": want the authority`},
		{"hidden text", bad(func(r *swimguide.Record) { r.Advisory = "a\u202eb" }), "text_en"},
		{"contradiction", swimGuideDocument(t, aSample("1", 1), aSample("1", 1, noAdvisory)), "record 2 (x): the guid de.example/1 is already in record 1 of a.csv with other values and the same time: want one record for it"},
		{"published when the other was updated", swimGuideDocument(t, aSample("1", 1, updatedOn(2)), aSample("1", 2)), "record 2 (x): the guid de.example/1 is already in record 1"},
		{"no record", strings.Replace(good, `"records":[`, `"records":[7,`, 1), "a.csv, record 1: "},
		{"unknown member", strings.Replace(good, `"guid"`, `"site":1,"guid"`, 1), `"site"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, "id,external_id,name,lat,lon\nx,x,See X,50,10\ny,x2,See Y,50,10\nz,y,See Z,50,10\n")
			wantOneStatementRejected(t, SwimGuide, s, test.text, test.want)
		})
	}
}

func TestOptionsOfSwimGuide(t *testing.T) {
	s := newStoreWithLakes(t)
	text := swimGuideDocument(t, aSample("1", 1), aSample("2", 2, atLocation("8099")), aSample("3", 3, noAdvisory))
	opts := inJuly()
	opts.SkipBad, opts.DryRun = true, true
	r := mustImport(t, SwimGuide, s, opts, text)
	if !r.DryRun || r.Written || r.Added != 1 || r.Rejected != 1 || r.LeftOut != 1 || len(advisoriesOf(t, s)) > 0 {
		t.Errorf("dry run: %+v", r)
	}
	opts.DryRun = false
	r = mustImport(t, SwimGuide, s, opts, text)
	if !r.Written || r.Added != 1 || r.Rejected != 1 || r.LeftOut != 1 || !slices.Equal(r.Unknown, []data.LakeID{"8099"}) || len(advisoriesOf(t, s)) != 1 {
		t.Errorf("import: %+v", r)
	}
	for _, days := range []int{-1, 366} {
		if _, err := SwimGuide(t.Context(), s, files(text), &Options{ValidDays: days}); err == nil || !strings.Contains(err.Error(), "want 1 to 365") {
			t.Errorf("%d days: error %v", days, err)
		}
	}
	for _, opts := range []*Options{{MakeIDs: true}, {Map: Mapping{"id": "a"}}, {Set: Mapping{"id": "a"}}} {
		if _, err := SwimGuide(t.Context(), s, files(text), opts); err == nil || !strings.Contains(err.Error(), "files with columns") {
			t.Errorf("error %v, want that there are no columns", err)
		}
	}
	if _, err := Advisories(t.Context(), s, files(text, "id,lake_id,kind\n"), nil); err == nil || !strings.Contains(err.Error(), "1 of 2 files are documents") {
		t.Errorf("with a table: error %v, want that they are imported apart", err)
	}
	if _, err := SwimGuide(t.Context(), s, nil, nil); err == nil {
		t.Error("an import without a file succeeds")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := SwimGuide(stopped, s, files(text), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was stopped", err)
	}
}

// A file that is no document is an error, and nothing is written.
func TestNoSwimGuideDocument(t *testing.T) {
	good := swimGuideDocument(t, aSample("1", 1))
	packed := new(bytes.Buffer)
	z := gzip.NewWriter(packed)
	if _, err := io.WriteString(z, good); err != nil {
		t.Fatal(err)
	}
	z.Close()
	for _, test := range []struct{ name, text, want string }{
		{"empty", " \n", "a.csv: the file is empty"},
		{"table", anAdvisory, "a.csv: this is no document of Swim Guide's standard 1.0.1: "},
		{"statements", `{"advisories":[]}`, `member "advisories": want $schema, documentTime and records`},
		{"cut", good[:len(good)/2], "the file ends before the end of its JSON"},
		{"two documents", good + good, "something follows the document"},
		{"cut gzip", packed.String()[:packed.Len()-20], "a.csv: this gzip file ends early"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStoreWithLakes(t)
			opts := inJuly()
			opts.SkipBad = true
			r, err := SwimGuide(t.Context(), s, files(test.text), opts)
			if err == nil || !strings.Contains(err.Error(), test.want) || r.Written || r.Samples > 0 {
				t.Errorf("report %+v, error %v, want one with %q", r, err, test.want)
			}
			if got := advisoriesOf(t, s); len(got) > 0 {
				t.Errorf("stored %+v", got)
			}
		})
	}
	s := newStoreWithLakes(t)
	if r := mustImport(t, SwimGuide, s, inJuly(), packed.String()); r.Added != 1 {
		t.Errorf("of the compressed document: %+v", r)
	}
}

// All files of an import together are bounded, also one that never ends.
func TestSwimGuideIsBounded(t *testing.T) {
	s := newStoreWithLakes(t)
	good := swimGuideDocument(t, aSample("1", 1))
	size := int64(len(good))
	for _, test := range []struct {
		name     string
		files    []File
		maxBytes int64
	}{
		{"one file", files(good), size - 1},
		{"two files", files(good, good), 2*size - 1},
		{"endless", []File{fileOf("a.json", func() io.Reader {
			return io.MultiReader(strings.NewReader("{"), &endless{text: strings.Repeat(" ", 4096), bytes: 1 << 40})
		})}, 0},
	} {
		opts := inJuly()
		opts.MaxBytes = test.maxBytes
		if _, err := SwimGuide(t.Context(), s, test.files, opts); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "divide them") {
			t.Errorf("%s: error %v, want that it is too large", test.name, err)
		}
	}
	opts := inJuly()
	opts.MaxBytes = 2 * size
	if r, err := SwimGuide(t.Context(), s, files(good, good), opts); err != nil || !r.Written {
		t.Errorf("at the limit: %+v, %v", r, err)
	}
}

// A report of many bad records is as short as any other.
func TestManyBadSwimGuideRecords(t *testing.T) {
	s := newStoreWithLakes(t)
	good := swimGuideDocument(t, aSample("1", 1))
	var records []swimguide.Record
	for i := range 1000 {
		records = append(records, aSample(fmt.Sprint("many-", i), 1, atLocation(fmt.Sprint("place-", i))))
	}
	for _, text := range []string{strings.Replace(good, `"records":[`, `"records":[`+strings.Repeat("7,", 1000), 1), swimGuideDocument(t, records...)} {
		r := mustImport(t, SwimGuide, s, inJuly(), text)
		if r.Rejected != 1000 || len(r.Bad) != maxBadRows || len(r.Unknown) > maxShownColumns+1 || !strings.Contains(r.String(), "And 980 rejected rows more") {
			t.Errorf("report\n%s", r)
		}
		for i, bad := range r.Bad {
			if bad.Number != i+1 {
				t.Errorf("number %d in the report is record %d, want the order of the file", i, bad.Number)
			}
		}
	}
}

// Only the organization that issued an advisory can lift it.
func TestLiftedByAnotherOrganization(t *testing.T) {
	s := newStoreWithLakes(t)
	mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, aSample("1", 1)))
	other := swimGuideDocument(t, aSample("1", 1, updatedOn(6), noAdvisory, func(r *swimguide.Record) { r.Organization = "Stadt" }))
	if r := mustImport(t, SwimGuide, s, inJuly(), other); r.Written || r.Rejected != 1 || !strings.Contains(r.Bad[0].Reason, otherStatement) {
		t.Errorf("report %+v", r)
	}
}

// Of the records of a guid in one import the one that was published or updated last counts, in any order. Only a record that conflicts
// with that is rejected.
func TestLatestSwimGuideRecord(t *testing.T) {
	describedAs := func(text string) func(*swimguide.Record) {
		return func(r *swimguide.Record) { r.Advisory = text }
	}
	x, y := aSample("1", 1, updatedOn(2), describedAs("x")), aSample("1", 1, updatedOn(2), describedAs("y"))
	z, lifted := aSample("1", 1, updatedOn(3)), aSample("1", 1, updatedOn(3), noAdvisory)
	for _, test := range []struct {
		name      string
		records   []swimguide.Record
		conflicts bool
		want      []data.Advisory
	}{
		{"published again after it was lifted", []swimguide.Record{lifted, aSample("1", 4)}, false, []data.Advisory{warning("1", 4, 11)}},
		{"lifted by an update", []swimguide.Record{aSample("1", 1), lifted}, false, nil},
		{"older ones conflict and are repeated", []swimguide.Record{x, y, x, y, z, z}, false, []data.Advisory{reissued("1", 1, 3, 10)}},
		{"the latest conflict", []swimguide.Record{x, lifted, z}, true, nil},
		{"a fraction of a second later", []swimguide.Record{aSample("1", 1, noAdvisory), aSample("1", 1, func(r *swimguide.Record) { r.Published = r.Published.Add(time.Millisecond) })},
			false, []data.Advisory{warning("1", 1, 8)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range len(test.records) { // each rotation, also backwards
				test.records = append(test.records[1:], test.records[0])
				backwards := slices.Clone(test.records)
				slices.Reverse(backwards)
				for _, records := range [][]swimguide.Record{test.records, backwards} {
					s := newStoreWithLakes(t)
					r := mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, records...))
					counted := r.Added + r.Unchanged + r.LeftOut + r.Rejected
					switch {
					case test.conflicts && (r.Written || r.Rejected != 1):
						t.Errorf("report %+v, want one record rejected", r)
					case !test.conflicts && (!r.Written || r.Rejected > 0 || counted != r.Read || r.Samples != r.Read):
						t.Errorf("report %+v, want all records counted and none rejected", r)
					}
					if got := advisoriesOf(t, s); !slices.Equal(got, test.want) {
						t.Errorf("stored %+v, want %+v", got, test.want)
					}
				}
			}
		})
	}
}

// Documents are imported one after the other, and older ones again after newer ones: the latest version of a record counts.
func TestVersionsOfSwimGuideRecords(t *testing.T) {
	first, updated := aSample("1", 1), aSample("1", 1, updatedOn(4))
	lifted, again := aSample("1", 1, updatedOn(3), noAdvisory), aSample("1", 1, updatedOn(5))
	next, revocation := aSample("2", 3, noAdvisory), aSample("2", 3, noAdvisory, revoking("1"))
	laterRevocation := aSample("2", 6, noAdvisory, revoking("1"))
	future := aSample("1", 1, func(r *swimguide.Record) { r.Updated = july(10, 20) })
	untilFuture := warning("1", 1, 17)
	untilFuture.Issued, untilFuture.ValidUntil = july(10, 12), july(17, 20) // the import is on 10 July at 12
	type records = []swimguide.Record
	for _, test := range []struct {
		name      string
		documents []records
		want      data.Advisory
		older     bool // whether the last document is left out as older
	}{
		{"the first document again", []records{{first}, {updated}, {first}}, reissued("1", 1, 4, 11), true},
		{"lifted", []records{{first}, {lifted}}, withdrawnOn(3, warning("1", 1, 8)), false},
		{"a lifted one after it was issued again", []records{{first}, {lifted}, {again}, {lifted}}, reissued("1", 1, 5, 12), true},
		{"lifted before the stored update", []records{{updated}, {lifted}}, reissued("1", 1, 4, 11), true},
		{"the next record is missing", []records{{first, next}, {first}}, warning("1", 1, 3), false},
		{"the next record comes later", []records{{first}, {first, next}}, warning("1", 1, 3), false},
		{"a later next record", []records{{first, next}, {first, aSample("3", 6, noAdvisory)}}, warning("1", 1, 6), false},
		{"the revocation is missing", []records{{first, revocation}, {first}}, withdrawnOn(3, warning("1", 1, 3)), true},
		{"updated after the revocation", []records{{first, revocation}, {updated}}, reissued("1", 1, 4, 11), false},
		{"revoked later", []records{{first}, {first, revocation}}, withdrawnOn(3, warning("1", 1, 8)), false},
		{"an older version is revoked", []records{{updated}, {first, laterRevocation}}, withdrawnOn(6, reissued("1", 1, 4, 11)), false},
		{"a newer version is revoked", []records{{first}, {updated, laterRevocation}, {updated, laterRevocation}}, withdrawnOn(6, warning("1", 1, 8)), false},
		{"updated in the future", []records{{first}, {future}, {future}}, untilFuture, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStoreWithLakes(t)
			var r Report
			for _, document := range test.documents {
				if r = mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, document...)); !r.Written {
					t.Fatalf("report %+v", r)
				}
			}
			if older := strings.Contains(r.String(), "1 row left out: older than what is stored."); older != test.older {
				t.Errorf("report of the last document\n%swant that it is older: %t", r, test.older)
			}
			if got := advisoriesOf(t, s); !slices.Equal(got, []data.Advisory{test.want}) {
				t.Errorf("stored %+v, want %+v", got, test.want)
			}
			document := swimGuideDocument(t, test.documents[len(test.documents)-1]...)
			if r := mustImport(t, SwimGuide, s, inJuly(), document); r.Changed+r.Added > 0 {
				t.Errorf("the last document again: %+v", r)
			}
		})
	}
}

// The statements of Swim Guide survive an export and an import: into the same database nothing changes, and into another one they are
// equal. There too the document changes nothing.
func TestExportOfSwimGuide(t *testing.T) {
	spaces := []string{"Example  Waterkeeper ", "\tExample\r\nWaterkeeper", "Example\u00a0 Waterkeeper\v", "\"Amt\"; A, B", " 'Amt\t", "N A", "NA NA", "- -", "=Amt", "Ämter\u2003Süd"}
	records := []swimguide.Record{
		aSample("updated", 1, updatedOn(4)),
		aSample("ended", 1, atLocation("y")), aSample("next", 3, noAdvisory, atLocation("y")),
		aSample("revoked", 2, atLocation("y")), aSample("updated-later", 2, atLocation("y"), updatedOn(6)),
		aSample("revocation", 3, noAdvisory, revoking("revoked"), atLocation("y")), aSample("revocation-2", 4, noAdvisory, revoking("updated-later"), atLocation("y")),
		aSample("fraction", 1, func(r *swimguide.Record) { r.Published = r.Published.Add(999 * time.Millisecond) }),
		aSample(strings.Repeat("long-", 12), 1),
	}
	for i, issuer := range spaces {
		for j, text := range append(spaces, "", " ", "-", "\nNA\r\n", "n.a.", "\r\r\n a  b \r\r c\n\n", "-\n-", "a\n \nb") {
			records = append(records, aSample(fmt.Sprintf("%d-%d", i, j), 1, func(r *swimguide.Record) { r.Organization, r.Advisory = issuer, text }))
		}
	}
	s, other := newStoreWithLakes(t), newStoreWithLakes(t)
	document := swimGuideDocument(t, records...)
	r := mustImport(t, SwimGuide, s, inJuly(), document)
	if !r.Written || r.Added+r.LeftOut != len(records) {
		t.Fatalf("report %+v", r)
	}
	want := advisoriesOf(t, s)
	var table bytes.Buffer
	if n, err := ExportAdvisories(t.Context(), s, &table); err != nil || n != r.Added {
		t.Fatalf("exported %d, %v, want %d", n, err, r.Added)
	}
	for _, step := range []struct {
		name             string
		into             *store.Store
		by               importFunc
		text             string
		added, unchanged int
	}{
		{"the same database", s, Advisories, table.String(), 0, len(want)},
		{"another database", other, Advisories, table.String(), len(want), 0},
		{"the document into the other database", other, SwimGuide, document, 0, len(want)},
		{"the document into the same database", s, SwimGuide, document, 0, len(want)},
	} {
		if r := mustImport(t, step.by, step.into, inJuly(), step.text); !r.Written || r.Added != step.added || r.Unchanged != step.unchanged || r.Changed > 0 {
			t.Errorf("%s: report %v", step.name, r)
		}
		if got := advisoriesOf(t, step.into); !slices.Equal(got, want) {
			t.Errorf("%s: stored %+v, want %+v", step.name, got, want)
		}
	}
}

// Who lifts or updates an advisory is the same organization with other white space.
func TestWhiteSpaceOfSwimGuideOrganization(t *testing.T) {
	s := newStoreWithLakes(t)
	spaced := func(name string) func(*swimguide.Record) {
		return func(r *swimguide.Record) { r.Organization = name }
	}
	mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, aSample("1", 1, spaced("Amt  X"))))
	for _, record := range []swimguide.Record{aSample("1", 1, updatedOn(2), spaced(" Amt X")), aSample("1", 1, updatedOn(3), noAdvisory, spaced("Amt\tX "))} {
		if r := mustImport(t, SwimGuide, s, inJuly(), swimGuideDocument(t, record)); !r.Written || r.Changed != 1 {
			t.Errorf("report %+v", r)
		}
	}
	want := withdrawnOn(3, reissued("1", 1, 2, 9))
	want.Issuer = "Amt X"
	if got := advisoriesOf(t, s); !slices.Equal(got, []data.Advisory{want}) {
		t.Errorf("stored %+v, want %+v", got, want)
	}
}
