package swimguide_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"limnomap/data"
	"limnomap/data/swimguide"
)

func at(s string) time.Time {
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// record is a valid record with an advisory.
func record() swimguide.Record {
	return swimguide.Record{
		GUID: "de.example/beach-1", Published: at("2026-07-01T08:00:00Z"), Organization: "Seewacht", AdvisoryIssued: true,
		Advisory: "Too many cells.", Location: swimguide.Location{ID: "de_by_clean", Name: "Klarer See", Lat: 48, Lon: 11.5},
		Sample: swimguide.Sample{
			Collected: at("2026-06-30T08:00:00Z"), Location: swimguide.Location{ID: "pier", Name: "At the pier", Lat: 48.001, Lon: 11.501},
			Kind: "single", Method: "other", Substance: "cyanobacteria", Units: "cells", Result: 120000,
		},
	}
}

// document is a document whose record is record.
const document = `{"$schema":"https://raw.githubusercontent.com/swimdrinkfish/opendata/master/v1.0.1/schema.json#",` +
	`"documentTime":"2026-07-02T08:00:00Z","records":[{"guid":"de.example/beach-1","publicationTime":"2026-07-01T08:00:00Z",` +
	`"organizationName":"Seewacht","advisory":{"issued":true,"description":"Too many cells."},` +
	`"location":{"id":"de_by_clean","name":"Klarer See","coordinate":{"latitude":48,"longitude":11.5}},` +
	`"sample":{"collectionTime":"2026-06-30T08:00:00Z","location":{"id":"pier","name":"At the pier","coordinate":{"latitude":48.001,"longitude":11.501}},` +
	`"type":{"kind":"single"},"method":"other","substance":"cyanobacteria","units":"cells","result":120000}}]}` + "\n"

// read returns the records of a document, and the first error.
func read(content string) (records []swimguide.Record, issued time.Time, err error) {
	issued, err = swimguide.Read(strings.NewReader(content), func(_ int, r swimguide.Record, err error) error {
		records = append(records, r)
		return err
	})
	return records, issued, err
}

func TestAppendAndRead(t *testing.T) {
	got, err := written(at("2026-07-02T08:00:00Z"), record())
	if err != nil || string(got) != document {
		t.Errorf("document\n%s(%v), want\n%s", got, err, document)
	}
	records, issued, err := read(document)
	if err != nil || !issued.Equal(at("2026-07-02T08:00:00Z")) || !reflect.DeepEqual(records, []swimguide.Record{record()}) {
		t.Errorf("read %+v of %s, %v", records, issued, err)
	}
}

// What only some records have is read as it was written.
func TestFullRecords(t *testing.T) {
	updated, revocation, geomean := record(), record(), record()
	updated.Updated, updated.References, updated.Sample.Collector = at("2026-07-01T09:30:00Z"), []string{"de.example/1", "de.example/2"}, "<A & \"B\">\u2028"
	revocation.Revokes, revocation.Explanation, revocation.AdvisoryIssued, revocation.Advisory = "de.example/1", "Mistake.", false, ""
	geomean.Sample.Kind, geomean.Sample.Variant, geomean.Sample.Hours, geomean.Sample.Result = "geomean", "temporal", 0.1, 1e21
	records := []swimguide.Record{updated, revocation, geomean}
	content, err := written(at("2026-07-02T08:00:00Z"), records...)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := read(string(content)); err != nil || !reflect.DeepEqual(got, records) {
		t.Errorf("read\n%+v, %v, want\n%+v\n%s", got, err, records, content)
	}
	if schema := schema(t); schema != nil {
		if err := validate(schema, content); err != nil {
			t.Errorf("%v\n%s", err, content)
		}
	}
}

// Each document that the schema of the standard does not accept is an error, which names the reason.
func TestReadRejects(t *testing.T) {
	schema := schema(t)
	for _, c := range []struct {
		old, new, want string
		syntax         bool // not for the schema to reject
	}{
		{`"$schema":"https:`, `"$schema":"`, "$schema", false},
		{`"$schema":"https://raw.githubusercontent.com/swimdrinkfish/opendata/master/v1.0.1/schema.json#",`, ``, "$schema", false},
		{`"documentTime":"2026-07-02T08:00:00Z",`, ``, "documentTime", false},
		{`2026-07-02T08:00:00Z`, `2026-07-02`, "2026-07-02", false},
		{`"documentTime"`, `"time":1,"documentTime"`, "time", false},
		{`"documentTime"`, `"documentTime":"2026-07-02T08:00:00Z","documentTime"`, "documentTime", true},
		{`de.example/`, `de.example/a_b`, "guid", false},
		{`de.example/beach-1`, `de.example/` + strings.Repeat("a", 65), "guid", false},
		{`"guid":"de.example/beach-1",`, ``, "guid", false},
		{`"organizationName":"Seewacht",`, ``, "organizationName", false},
		{`"issued":true,`, ``, "advisory.issued", false},
		{`"issued":true`, `"issued":"true"`, "issued", false},
		{`"organizationName"`, `"site":"x","organizationName"`, "site", false},
		{`"organizationName"`, `"updateTime":"now","organizationName"`, "updateTime", false},
		{`"organizationName"`, `"revokes":{},"organizationName"`, "revokes.guid", false},
		{`"organizationName"`, `"revokes":{"guid":""},"organizationName"`, "revoked", false},
		{`"organizationName"`, `"revokes":{"guid":"x"},"organizationName"`, "guid", false},
		{`"organizationName"`, `"references":[{}],"organizationName"`, "references.guid", false},
		{`"id":"de_by_clean"`, `"id":""`, "id is empty", false},
		{`"name":"Klarer See",`, ``, "location", false},
		{`"latitude":48,`, `"latitude":91,`, "latitude", false},
		{`"longitude":11.501`, `"longitude":null`, "sample.location", false},
		{`"kind":"single"`, `"kind":"double"`, "kind", false},
		{`"kind":"single"`, `"kind":"geomean"`, "variant", false},
		{`"kind":"single"`, `"kind":"single","variant":"spatial"`, "variant", false},
		{`"kind":"single"`, `"kind":"geomean","variant":"temporal"`, "hours", false},
		{`"kind":"single"`, `"kind":"geomean","variant":"spatial","hours":0`, "hours", false},
		{`"kind":"single"`, `"hours":1`, "sample.type.kind", false},
		{`"substance":"cyanobacteria"`, `"substance":"chlorophyll"`, "substance", false},
		{`"result":120000`, `"result":-1`, "result", false},
		{`,"result":120000`, ``, "sample.result", false},
		{`"records":[`, `"records":[[],`, "array", false},
		{`}]}`, `}]}{}`, "follows", true},
		{`}]}`, `}]`, "EOF", true},
	} {
		content := strings.Replace(document, c.old, c.new, 1)
		if content == document {
			t.Errorf("the document has no %s", c.old)
		}
		if schema != nil && !c.syntax && validate(schema, []byte(content)) == nil {
			t.Errorf("the schema accepts %s for %s", c.new, c.old)
		}
		_, _, err := read(content)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %s for %s: error %v, want one about %s", c.new, c.old, err, c.want)
		}
	}
	for _, content := range []string{"", "[]", "{}", "null", `{"records":{}}`, `{"$schema":"a:b","documentTime":"2026-07-02T08:00:00Z","records":[]}`} {
		if _, _, err := read(content); err == nil {
			t.Errorf("%q is read without an error", content)
		}
	}
}

// One invalid record does not keep the others from being read.
func TestReadContinuesAfterAnInvalidRecord(t *testing.T) {
	start, rest, _ := strings.Cut(document, `"records":[`)
	content := start + `"records":[{"guid":1},7,` + rest
	var failed []int
	var records int
	if _, err := swimguide.Read(strings.NewReader(content), func(i int, _ swimguide.Record, err error) error {
		if records++; err != nil {
			failed = append(failed, i)
		}
		return nil
	}); err != nil || records != 3 || !reflect.DeepEqual(failed, []int{0, 1}) {
		t.Errorf("%d records, of which %v failed; %v", records, failed, err)
	}
	stop := errors.New("stop")
	if _, err := swimguide.Read(strings.NewReader(content), func(int, swimguide.Record, error) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of the callback", err)
	}
}

// schemaFile names a copy of schema.json of version 1.0.1 of the standard. No package of Debian or npm has it.
const schemaFile = "LIMNOMAP_TEST_SWIMGUIDE_SCHEMA"

// schema returns the schema of the standard from the file that schemaFile names; nil without it. Then Read, which demands what the
// schema demands, is the only check.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	name := os.Getenv(schemaFile)
	if name == "" {
		t.Logf("checked with Read only: %s does not name a copy of schema.json of version 1.0.1", schemaFile)
		return nil
	}
	t.Logf("checked with Read and with %s", name)
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://example.org/schema.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("https://example.org/schema.json")
}

func validate(schema *jsonschema.Schema, content []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// TestSchema checks a valid document and another one with Read, and with the schema of the standard if there is a copy of it.
func TestSchema(t *testing.T) {
	chlorophyll := strings.Replace(document, "cyanobacteria", "chlorophyll", 1)
	if _, _, err := read(document); err != nil {
		t.Errorf("Read: %v", err)
	}
	if _, _, err := read(chlorophyll); err == nil {
		t.Error("Read: chlorophyll is a valid substance")
	}
	schema := schema(t)
	if schema == nil {
		return
	}
	if err := validate(schema, []byte(document)); err != nil {
		t.Errorf("the schema: %v", err)
	}
	if validate(schema, []byte(chlorophyll)) == nil {
		t.Error("the schema: chlorophyll is a valid substance")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(document))
	f.Add([]byte(`{"records":[{"references":[null],"sample":{"type":null}}]}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		var records []swimguide.Record
		issued, err := swimguide.Read(bytes.NewReader(content), func(_ int, r swimguide.Record, err error) error {
			if err == nil {
				records = append(records, r)
			}
			return nil
		})
		swimguide.Advisories(records, func(l swimguide.Location) (data.LakeID, error) { return "a", nil })
		if err == nil && len(records) > 0 {
			if _, err := written(issued, records...); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}
