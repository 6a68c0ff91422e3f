package ingest

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

const advisoryHeader = "id,lake_id,kind,cause,issuer,text_en,text_de,url,issued,valid_from,valid_until,withdrawn\n"

// anAdvisory is a full row, and fullAdvisory what it means.
const anAdvisory = advisoryHeader + `s1,x,closure,cyanobacteria,Amt,"No bathing.
Keep dogs away.",Badeverbot,https://example.org/a,2026-07-01T10:30:00+02:00,2026-07-01,2026-07-31,` + "\n"

func fullAdvisory() data.Advisory {
	day := func(d int) time.Time { return time.Date(2026, 7, d, 0, 0, 0, 0, time.UTC) }
	return data.Advisory{ID: "s1", LakeID: "x", Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Amt",
		TextEN: "No bathing.\nKeep dogs away.", TextDE: "Badeverbot", URL: "https://example.org/a",
		Issued: time.Date(2026, 7, 1, 8, 30, 0, 0, time.UTC), ValidFrom: day(1), ValidUntil: day(32)}
}

// inJuly are options of an import on 10 July 2026.
func inJuly() *Options {
	return &Options{Now: func() time.Time { return time.Date(2026, 7, 10, 12, 0, 0, 0, time.UTC) }}
}

func newStoreWithLakes(tb testing.TB) *store.Store {
	tb.Helper()
	s := storetest.New(tb)
	mustImport(tb, Lakes, s, nil, "id,name,lat,lon\nx,See X,50,10\ny,Övre See,50,10\novre_see,Övre See,51,11\n")
	return s
}

func advisoriesOf(tb checkTB, s *store.Store) []data.Advisory {
	all, _, err := s.Advisories(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	slices.SortFunc(all, func(a, b data.Advisory) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// wantOneStatementRejected imports a text with one bad statement, so that none is stored. The reason must contain want.
func wantOneStatementRejected(t *testing.T, f importFunc, s *store.Store, text, want string) {
	t.Helper()
	r := mustImport(t, f, s, inJuly(), text)
	if r.Written || r.Rejected != 1 || !strings.Contains(r.Bad[0].String(), want) {
		t.Errorf("report %+v, want one statement rejected with %q", r, want)
	}
	if got := advisoriesOf(t, s); len(got) > 0 {
		t.Errorf("stored %+v", got)
	}
}

// A file in any of the forms gives the same statement, and importing it again changes nothing.
func TestAdvisories(t *testing.T) {
	const object = `{"id":"s1","lake_id":"x","lake_name":"See X","lat":50,"kind":"closure","cause":"cyanobacteria","issuer":"Amt",` +
		`"text":{"en":"No bathing.\r\nKeep\t dogs away.\n","de":"Badeverbot"},"url":"https://example.org/a","issued":"2026-07-01T08:30:00Z",` +
		`"valid_from":"2026-07-01T00:00:00Z","valid_until":"2026-08-01T00:00:00Z","withdrawn":null,"active":true}`
	bare, numbered, days := fullAdvisory(), fullAdvisory(), fullAdvisory()
	bare.TextEN, bare.TextDE, bare.URL, bare.ValidUntil = "", "", "", time.Time{}
	numbered.ID = "12345"
	days.Issued, days.Withdrawn = days.ValidFrom, days.ValidFrom.AddDate(0, 0, 4)
	for _, test := range []struct {
		name, text string
		want       data.Advisory
	}{
		{"table", anAdvisory, fullAdvisory()},
		{"link", strings.Replace(anAdvisory, "url", "Link", 1), fullAdvisory()},
		{"days", advisoryHeader + "s1,x,closure,cyanobacteria,Amt,\"No bathing.\nKeep dogs away.\",Badeverbot,https://example.org/a,01.07.2026,2026-07-01,31.7.2026,2026-07-05\n", days},
		{"required columns", "valid_until,valid_from,issued,issuer,cause,kind,lake_id,id\n,2026-07-01T00:00:00Z,2026-07-01 10:30:00+02:00,Amt,cyanobacteria,closure,x,s1\n", bare},
		{"answer of the API", `{"generated_at":"2026-07-10T00:00:00Z","advisories":[` + object + `]}` + "\n", fullAdvisory()},
		{"array", "\ufeff [\n" + object + "\n] ", fullAdvisory()},
		{"languages as columns", "[" + strings.Replace(object, `"text":{"en":"No bathing.\r\nKeep\t dogs away.\n","de":"Badeverbot"}`, `"TEXT_DE":"Badeverbot","text":null,"text_en":"No bathing.\nKeep dogs away."`, 1) + "]", fullAdvisory()},
		{"no texts", `[{"id":"s1","lake_id":"x","kind":"closure","cause":"cyanobacteria","issuer":"Amt","text":{"en":null,"fr":[{}]},"issued":"2026-07-01T08:30:00Z","valid_from":"2026-07-01","valid_until":null}]`, bare},
		{"numeric id", "[" + strings.Replace(object, `"id":"s1"`, `"id":12345.0`, 1) + "]", numbered},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStoreWithLakes(t)
			for _, added := range []int{1, 0} {
				r := mustImport(t, Advisories, s, inJuly(), test.text)
				if !r.Written || r.Read != 1 || r.Added != added || r.Unchanged != 1-added {
					t.Errorf("report %+v, want %d added", r, added)
				}
			}
			if got := advisoriesOf(t, s); !slices.Equal(got, []data.Advisory{test.want}) {
				t.Errorf("stored %+v, want %+v", got, test.want)
			}
		})
	}
}

// A bad row says which column is wrong, and what is allowed.
func TestBadAdvisories(t *testing.T) {
	row := func(from, to string) string { return strings.Replace(anAdvisory, from, to, 1) }
	json := func(more string) string {
		return `[{"id":"s1","lake_id":"x","kind":"info","cause":"other","issuer":"Amt","issued":"2026-07-01","valid_from":"2026-07-01","valid_until":""` + more + `}]`
	}
	for _, test := range []struct{ name, text, want string }{
		{"no id", row("s1", ""), "a.csv, line 2 (x): id is missing: want the statement's id"},
		{"id with a slash", row("s1", "s/1"), `id "s/1": want a letter or digit`},
		{"no lake", row("x,", ","), "lake_id is missing"},
		{"unknown lake", row("x,", "z,"), "a.csv, line 2 (z): the database does not hold this lake: import the lakes first"},
		{"kind", row("closure", "Closure"), `kind "Closure" is none of closure, warning, info, season`},
		{"cause", row("cyanobacteria", "algae"), `cause "algae" is none of`},
		{"no issuer", row("Amt", "n.a."), "issuer is missing"},
		{"hidden text", row("Badeverbot", "Bade\u202everbot"), "text_de"},
		{"address", row("https://example.org/a", "javascript:alert(1)"), "want an address that begins with https:// or http://"},
		{"no issued", row("2026-07-01T10:30:00+02:00", ""), "issued is missing: want a time with a zone such as 2026-07-01T10:00:00+02:00, or a date"},
		{"issued tomorrow", row("2026-07-01T10:30:00+02:00", "2026-07-11T12:00:01Z"), "issued 2026-07-11T12:00:01Z is in the future: want a time up to 2026-07-11T12:00:00Z"},
		{"valid_from", row("2026-07-01,", "1 July,"), `valid_from "1 July": want a time with a zone such as`},
		{"issued without a zone", row("2026-07-01T10:30:00+02:00", "2026-07-01T10:30:00"), `issued "2026-07-01T10:30:00": want a time with a zone such as 2026-07-01T10:00:00+02:00, or a date`},
		{"contradiction", anAdvisory + "s1,x,info,other,Amt,,,,2026-07-01,2026-07-01,,\n", "a.csv, line 4 (x): the statement s1 is already on line 2 of a.csv with other values: want one row for it"},
		{"JSON without valid_until", `[{"id":"s1","lake_id":"x","kind":"info","cause":"other","issuer":"Amt","issued":"2026-07-01","valid_from":"2026-07-01"}]`, "statement 1 (x): valid_until is missing: want a time with a zone such as"},
		{"no object", `[7]`, `a.csv, statement 1: "7": want a statement as an object`},
		{"object as a value", json(`,"url":{"a":1}`), `url "{`},
		{"text as a text", json(`,"text":"Hello"`), `text "Hello": want an object with the members en and de`},
		{"two texts", json(`,"text":{"en":"Hello"},"text_en":"Hello"`), `it has the member "text_en" twice`},
		{"invalid UTF-8", json(`,"url":"` + "\xff" + `"`), "it is not UTF-8"},
		{"JSON contradiction", strings.Replace(json(""), "]", ","+strings.Trim(strings.Replace(json(""), "info", "season", 1), "["), 1), "statement 2 (x): the statement s1 is already in statement 1 of a.csv"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStoreWithLakes(t)
			wantOneStatementRejected(t, Advisories, s, test.text, test.want)
		})
	}
}

// A row with the id of a stored statement by another issuer or about another lake is rejected, and the stored one stays.
func TestOtherStatement(t *testing.T) {
	const want = "the database has a statement with this id by another issuer or about another lake: want another id"
	for name, text := range map[string]string{
		"issuer": strings.Replace(anAdvisory, "Amt", "Stadt", 1),
		"lake":   strings.Replace(anAdvisory, ",x,", ",y,", 1),
		"ended":  strings.NewReplacer("Amt", "Stadt", "closure", "info").Replace(anAdvisory),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStoreWithLakes(t)
			mustImport(t, Advisories, s, inJuly(), anAdvisory)
			r := mustImport(t, Advisories, s, inJuly(), text)
			if r.Written || r.Rejected != 1 || r.Bad[0].Reason != want || len(r.Unknown) > 0 {
				t.Errorf("report %+v, want one row rejected: %s", r, want)
			}
			opts := inJuly()
			opts.SkipBad = true
			again := strings.SplitAfterN(text, "\n", 2)[1]
			r = mustImport(t, Advisories, s, opts, text+again+strings.Replace(again, "s1", "s2", 1))
			if !r.Written || r.Rejected != 2 || r.Added != 1 || r.Bad[1].Reason != want {
				t.Errorf("report %+v, want two rows rejected and one added", r)
			}
			if got := advisoriesOf(t, s); len(got) != 2 || got[0] != fullAdvisory() {
				t.Errorf("stored %+v, want %+v and s2", got, fullAdvisory())
			}
		})
	}
}

// A file that is not of statements is an error.
func TestNoAdvisories(t *testing.T) {
	deep := strings.Repeat("[", 20_000)
	for _, test := range []struct{ name, text, want string }{
		{"no valid_until", strings.Replace(anAdvisory, "valid_until", "valid_to", 1), `line 1 lacks the column valid_until; it holds "id"`},
		{"long row", advisoryHeader + `s1,"` + strings.Repeat("x", 2*maxRowBytes), "does not end within 65536 bytes"},
		{"object without statements", `{"lakes":[]}`, "there are no official statements"},
		{"no array", `{"advisories":{}}`, `"advisories" is not an array`},
		{"two arrays", `{"advisories":[],"advisories":[]}`, `two members "advisories"`},
		{"two texts", `[] []`, "there is more after the end of its JSON"},
		{"cut", `{"advisories":[{"id":"a"`, "statement 1: the file ends before the end of its JSON"},
		{"cut at its end", `{"advisories":[]`, "after statement 0: the file ends before the end of its JSON"},
		{"not JSON", `[{id:1}]`, "statement 1: byte 3: invalid character"},
		{"long statement", `[{"a":"` + strings.Repeat("x", maxStatementBytes) + `"}]`, "statement 1: does not end within 65536 bytes"},
		{"statement that never ends", `[{"a":"` + strings.Repeat("x", 20*maxStatementBytes), "statement 1: does not end within 65536 bytes"},
		{"long member", `{"a":"` + strings.Repeat("x", 2*maxStatementBytes) + `","advisories":[]}`, `"a": does not end within 65536 bytes`},
		{"white space", `[` + strings.Repeat(" ", 20*maxStatementBytes), "does not end within 65536 bytes"},
		{"many members", `[{` + strings.Repeat(`"a":1,`, maxMembers) + `"a":1}]`, "more than 100 members"},
		{"deep", `[{"a":` + deep, "exceeded max depth"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStoreWithLakes(t)
			_, err := Advisories(t.Context(), s, files(test.text), &Options{SkipBad: true})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if got := advisoriesOf(t, s); len(got) > 0 {
				t.Errorf("stored %+v", got)
			}
		})
	}
}

// A missing optional column keeps what is stored; an empty field removes it. In JSON this is so for each statement.
func TestLackingColumnsOfAdvisories(t *testing.T) {
	const withdrawn = "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until,withdrawn\ns1,x,closure,cyanobacteria,Amt,2026-07-01T08:30:00Z,2026-07-01,2026-07-31,2026-07-09\n"
	s := newStoreWithLakes(t)
	want := fullAdvisory()
	for _, step := range []struct {
		name, text string
		edit       func()
	}{
		{"new", anAdvisory, func() {}},
		{"withdrawn", withdrawn, func() { want.Withdrawn = time.Date(2026, 7, 9, 0, 0, 0, 0, time.UTC) }},
		{"without withdrawn", strings.NewReplacer(",withdrawn", "", ",2026-07-09", "").Replace(withdrawn), func() {}},
		{"JSON", `[{"id":"s1","lake_id":"x","kind":"closure","cause":"cyanobacteria","issuer":"Amt","issued":"2026-07-01T08:30:00Z","valid_from":"2026-07-01","valid_until":"2026-07-31","text":{"de":null}}]`,
			func() { want.TextDE = "" }},
		{"not withdrawn", strings.Replace(withdrawn, "2026-07-09", "", 1), func() { want.Withdrawn = time.Time{} }},
	} {
		mustImport(t, Advisories, s, inJuly(), step.text)
		step.edit()
		if got := advisoriesOf(t, s); !slices.Equal(got, []data.Advisory{want}) {
			t.Errorf("%s: stored %+v, want %+v", step.name, got, want)
		}
	}
}

// The options for other columns, ids from names, bad rows and dry runs are as for lakes and observations.
func TestOptionsOfAdvisories(t *testing.T) {
	const theirs = "nr,see,issuer,issued,valid_from,bis\ns1,Övre See,Amt,2026-07-01,2026-07-01,2026-07-02\ns2,Other See,Amt,2026-07-01,2026-07-01,\n"
	const theirsJSON = `[{"nr":"s1","see":"Övre See","issuer":"Amt","issued":"2026-07-01","valid_from":"2026-07-01","bis":"2026-07-02","text":"x"},` +
		`{"nr":"s2","see":"Other See","issuer":"Amt","issued":"2026-07-01","valid_from":"2026-07-01","bis":null}]`
	for _, text := range []string{theirs, theirsJSON} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, "id,name,lat,lon\novre_see,Övre See,51,11\n")
		opts := inJuly()
		opts.MakeIDs, opts.SkipBad, opts.DryRun = true, true, true
		opts.Map = Mapping{"id": "nr", "lake_id": "see", "valid_until": "bis"}
		opts.Set = Mapping{"kind": "season", "cause": "other"}
		if text == theirsJSON {
			opts.Map["text_en"] = "text"
		}
		r := mustImport(t, Advisories, s, opts, text)
		if !r.DryRun || r.Added != 1 || r.Rejected != 1 || len(advisoriesOf(t, s)) > 0 {
			t.Errorf("dry run: %+v", r)
		}
		opts.DryRun = false
		r = mustImport(t, Advisories, s, opts, text)
		got := advisoriesOf(t, s)
		if !r.Written || r.Added != 1 || !slices.Equal(r.Unknown, []data.LakeID{"other_see"}) || len(got) != 1 || got[0].LakeID != "ovre_see" || got[0].Kind != data.Season {
			t.Errorf("import: %+v, stored %+v", r, got)
		}
		opts.Map["cause"] = "grund"
		delete(opts.Set, "cause")
		if _, err := Advisories(t.Context(), s, files(text), opts); err == nil || !strings.Contains(err.Error(), `"grund", which is mapped to cause`) {
			t.Errorf("error %v, want that no row has the mapped column", err)
		}
	}
}

func FuzzAdvisories(f *testing.F) {
	for _, seed := range []string{
		anAdvisory, strings.ReplaceAll(anAdvisory, ",", ";"), strings.Replace(anAdvisory, "2026-07-31,", "2026-07-31,2026-07-02", 1),
		`{"generated_at":"2026-07-10T00:00:00Z","advisories":[{"id":"s1","lake_id":"x","kind":"info","cause":"other","issuer":"Amt","text":{"en":"a\nb","de":null},"issued":"2026-07-01","valid_from":"2026-07-01","valid_until":null}]}`,
		`[{"id":1,"lake_id":"y","kind":"season","cause":"other","issuer":"Amt","text_en":"\u00fc","link":"http://a","issued":"2026-07-01","valid_from":"2026-07-01","valid_until":"2026-07-01","withdrawn":""},7,{"text":"x"},{}]`,
		"[{\"id\":\"\\ud800\",\"\xff\":1}]", `{"advisories":[]}`, "[]",
	} {
		f.Add(seed)
	}
	s := newStoreWithLakes(f)
	now := inJuly()
	f.Fuzz(func(t *testing.T, text string) {
		checkImport(t, Advisories, s, text)
		all, _, err := s.Advisories(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if err := cmp.Or(a.CheckImport(), checkIssued(a, time.Now())); err != nil {
				t.Errorf("stored a statement that may not be: %+v: %v", a, err)
			}
		}
		var file bytes.Buffer
		if _, err := ExportAdvisories(t.Context(), s, &file); err != nil {
			t.Fatal(err)
		}
		now.Now = time.Now
		if r, err := Advisories(t.Context(), s, files(file.String()), now); err != nil || r.Unchanged != len(all) {
			t.Errorf("import of an export: %+v, %v, want %d unchanged:\n%s", r, err, len(all), &file)
		}
	})
}
