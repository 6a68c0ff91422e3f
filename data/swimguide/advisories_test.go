package swimguide_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/swimguide"
)

// lakeOf knows the lake of record only.
func lakeOf(l swimguide.Location) (data.LakeID, error) {
	if l.ID != "de_by_clean" {
		return "", errors.New("no lake is the location " + l.ID)
	}
	return data.LakeID(l.ID), nil
}

// changed returns record with another id, another time of publication on 2026-07, and a change.
func changed(guid, day string, change func(*swimguide.Record)) swimguide.Record {
	r := record()
	r.GUID, r.Published = guid, at("2026-07-"+day+"T08:00:00Z")
	if change != nil {
		change(&r)
	}
	return r
}

func fine(r *swimguide.Record) { r.AdvisoryIssued = false }

func TestAdvisory(t *testing.T) {
	r := record()
	r.Advisory = "Too many cells.\nKeep out."
	r.Published = at("2026-07-01T10:00:00.9+02:00")
	statements, rejected := swimguide.Advisories([]swimguide.Record{r}, lakeOf)
	want := data.Advisory{
		ID: "de.example_beach-1", LakeID: "de_by_clean", Kind: data.Warning, Cause: data.Cyanobacteria, Issuer: "Seewacht",
		TextEN: "Too many cells.\nKeep out.", Issued: at("2026-07-01T08:00:00Z"), ValidFrom: at("2026-07-01T08:00:00Z"),
	}
	if len(rejected) != 0 || len(statements) != 1 || statements[0] != (swimguide.Statement{Advisory: want, GUID: r.GUID}) {
		t.Errorf("statements %+v (%v), want %+v", statements, rejected, want)
	}
	for substance, cause := range map[string]data.Cause{
		"total_coliform": data.Bacteria, "fecal_coliform": data.Bacteria, "ecoli": data.Bacteria, "enterococcus": data.Bacteria,
		"cyanobacteria": data.Cyanobacteria, "microcystin": data.Cyanobacteria, "cylindrospermopsin": data.Cyanobacteria,
	} {
		r.Sample.Substance = substance
		if statements, _ := swimguide.Advisories([]swimguide.Record{r}, lakeOf); statements[0].Cause != cause {
			t.Errorf("the cause of %s is %s, want %s", substance, statements[0].Cause, cause)
		}
	}
	long := "de.example/" + strings.Repeat("a", 63)
	statements, _ = swimguide.Advisories([]swimguide.Record{changed(long+"b", "01", nil), changed(long+"c", "01", nil)}, lakeOf)
	if len(statements) != 2 || statements[0].ID == statements[1].ID || len(statements[0].ID) > 64 {
		t.Errorf("statements of long guids: %+v", statements)
	}
}

func TestEndsOfWarnings(t *testing.T) {
	at := func(day string) string { return "2026-07-" + day + "T08:00:00Z" }
	for _, c := range []struct {
		name    string
		records []swimguide.Record
		want    []string // id, end and withdrawal of each statement
	}{
		{"no advisory", []swimguide.Record{changed("de.example/1", "01", fine)}, nil},
		{"nothing follows", []swimguide.Record{changed("de.example/1", "01", nil)}, []string{"1 - -"}},
		{"a good sample follows, in any order of the file", []swimguide.Record{changed("de.example/2", "03", fine), changed("de.example/1", "01", nil)},
			[]string{"1 " + at("03") + " -"}},
		{"samples published together", []swimguide.Record{
			changed("de.example/1", "01", nil), changed("de.example/2", "01", fine), changed("de.example/3", "01", nil), changed("de.example/4", "03", fine)},
			[]string{"1 " + at("03") + " -", "3 " + at("03") + " -"}},
		{"a good sample of another substance", []swimguide.Record{changed("de.example/1", "01", nil),
			changed("de.example/2", "03", func(r *swimguide.Record) { fine(r); r.Sample.Substance = "ecoli" })}, []string{"1 - -"}},
		{"a good sample of another publisher", []swimguide.Record{changed("de.example/1", "01", nil), changed("ca.example/2", "03", fine)},
			[]string{"1 - -"}},
		{"the publisher in capitals", []swimguide.Record{changed("de.example/1", "01", nil), changed("DE.Example/2", "03", fine)},
			[]string{"1 " + at("03") + " -"}},
		{"revoked", []swimguide.Record{changed("de.example/1", "01", nil),
			changed("de.example/2", "03", func(r *swimguide.Record) { fine(r); r.Revokes = "de.example/1" })}, []string{"1 " + at("03") + " " + at("03")}},
		{"revoked by another publisher", []swimguide.Record{changed("de.example/1", "01", nil),
			changed("ca.example/2", "03", func(r *swimguide.Record) { fine(r); r.Revokes = "de.example/1" })}, []string{"1 - -"}},
		{"a good sample that is revoked", []swimguide.Record{changed("de.example/1", "01", nil), changed("de.example/2", "03", fine),
			changed("de.example/3", "05", func(r *swimguide.Record) { r.Revokes = "de.example/2" })}, []string{"1 " + at("05") + " -", "3 - -"}},
	} {
		statements, rejected := swimguide.Advisories(c.records, lakeOf)
		if len(rejected) != 0 {
			t.Errorf("%s: rejected %v", c.name, rejected)
		}
		var got []string
		for _, a := range statements {
			words := []string{strings.TrimPrefix(string(a.ID), "de.example_"), "-", "-"}
			if !a.ValidUntil.IsZero() {
				words[1] = a.ValidUntil.Format("2006-01-02T15:04:05Z07:00")
			}
			if !a.Withdrawn.IsZero() {
				words[2] = a.Withdrawn.Format("2006-01-02T15:04:05Z07:00")
			}
			got = append(got, strings.Join(words, " "))
			if err := a.CheckImport(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: statements %q, want %q", c.name, got, c.want)
		}
	}
}

func TestRejectedRecords(t *testing.T) {
	_, rejected := swimguide.Advisories([]swimguide.Record{
		changed("de.example/1", "01", func(r *swimguide.Record) { r.Location.ID = "unknown" }),
		changed("de.example/2", "02", func(r *swimguide.Record) { r.Organization = "" }),
		changed("de.example/3", "03", func(r *swimguide.Record) { r.Advisory = "a\u202eb" }),
		changed("de.example/4", "04", nil),
		changed("de.example/4", "05", nil),
	}, lakeOf)
	var got []string
	for _, r := range rejected {
		got = append(got, r.GUID+" "+r.Err.Error())
	}
	for i, want := range []string{"no lake", "issuer", "text_en", "two records"} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Fatalf("rejected %q, want as number %d one for %q", got, i, want)
		}
	}
	if len(got) != 4 {
		t.Errorf("rejected %q", got)
	}
}
