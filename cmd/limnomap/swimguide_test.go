package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// swimGuideRecord is a record of a synthetic document, published at that time.
func swimGuideRecord(guid, location string, published time.Time, advisory bool) string {
	const place = `"name":"Main Beach","coordinate":{"latitude":48,"longitude":11.5}`
	return fmt.Sprintf(`{"guid":"de.example/%s","publicationTime":%q,"organizationName":"Seewacht","advisory":{"issued":%t,"description":"Too many cells."},`+
		`"location":{"id":%q,%s},"sample":{"collectionTime":"2026-07-01T06:00:00Z","location":{"id":"pier",%s},`+
		`"type":{"kind":"single"},"method":"other","substance":"cyanobacteria","units":"cells","result":120000}}`,
		guid, published.UTC().Format(time.RFC3339), advisory, location, place, place)
}

func swimGuideDocument(records ...string) string {
	return `{"$schema":"https://raw.githubusercontent.com/swimdrinkfish/opendata/master/v1.0.1/schema.json#",` +
		`"documentTime":"2026-07-02T08:00:00Z","records":[` + strings.Join(records, ",") + `]}`
}

// A running server shows the advisory of an imported document as a warning, for as many days as the flag says.
func TestSwimGuideFromFileToServer(t *testing.T) {
	db, dir := filepath.Join(t.TempDir(), "lakes.db"), t.TempDir()
	lakes := limnomaptest.WriteFile(t, dir, "lakes.csv", "id,external_id,name,lat,lon\nclear,8099,Clear Lake,48,11.5\n")
	mustRun(t, "import", "lakes", lakes, "--db", db)
	base, _ := startServer(t, "--db", db)
	published := time.Now().Add(-48 * time.Hour)
	name := limnomaptest.WriteFile(t, dir, "today.json", swimGuideDocument(
		swimGuideRecord("1", "8099", published, true), swimGuideRecord("2", "another country", published, false)))
	out := mustRun(t, "import", "advisories", name, "--db", db, "--dry-run")
	if !strings.Contains(out, "2 rows read: 1 would be added") {
		t.Errorf("the dry run prints\n%s", out)
	}
	out = mustRun(t, "import", "advisories", name, "--db", db)
	if !strings.Contains(out, "2 rows read: 1 added, 0 changed, 0 unchanged, 0 rejected.\n1 row left out, without an advisory.\n2 sample values not stored") {
		t.Errorf("the import prints\n%s", out)
	}
	limnomaptest.Within(t, patience, "the warning is shown", func() bool {
		_, body := limnomaptest.Get(t, base+"/api/v1/bathing-lakes/advisories")
		return strings.Contains(string(body), `"id":"de.example_1","lake_id":"clear","lake_name":"Clear Lake","lat":48,"lon":11.5,"kind":"warning","cause":"cyanobacteria","issuer":"Seewacht","text":{"en":"Too many cells.","de":null}`) &&
			strings.Contains(string(body), `"valid_until":"`+published.UTC().AddDate(0, 0, 7).Format(time.RFC3339)+`"`)
	})
	if out = mustRun(t, "import", "advisories", name, "--db", db); !strings.Contains(out, "2 rows read: 0 added, 0 changed, 1 unchanged") {
		t.Errorf("the second import prints\n%s", out)
	}
	if out = mustRun(t, "import", "advisories", name, "--db", db, "--valid-days", "1"); !strings.Contains(out, "0 added, 1 changed") {
		t.Errorf("the import with another end prints\n%s", out)
	}
	limnomaptest.Within(t, patience, "the warning is over", func() bool {
		_, body := limnomaptest.Get(t, base+"/api/v1/bathing-lakes/advisories")
		return strings.HasSuffix(string(body), `"advisories":[]}`+"\n")
	})
}

func TestSwimGuideRejects(t *testing.T) {
	db, dir := filepath.Join(t.TempDir(), "lakes.db"), t.TempDir()
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV), "--db", db)
	name := limnomaptest.WriteFile(t, dir, "a.json", swimGuideDocument(swimGuideRecord("1", "nowhere", time.Now(), true)))
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown location", nil, `1 of 1 rows rejected`},
		{"only unknown locations", []string{"--skip-bad"}, "all 1 rows rejected"},
		{"no days", []string{"--valid-days", "0"}, "--valid-days"},
		{"more than a year", []string{"--valid-days", "366"}, "--valid-days"},
	} {
		_, _, err := runCommand(t, append([]string{"import", "advisories", name, "--db", db}, test.args...)...)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}
