//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// Two programs that others wrote read the feed, and both find in it what the API says. It is valid by RFC 4287.
func TestEventFeedForReaders(t *testing.T) {
	limnomaptest.Need(t, "node", "xmllint", "/usr/bin/python3")
	limnomaptest.NeedFolder(t, tellingFolder+"/node_modules")
	db, observe := tellingDatabase(t)
	s := limnomaptest.Start(t, "--db", db, "--as-of", "data")
	awaitLog(t, s)
	statements := limnomaptest.WriteFile(t, t.TempDir(), "advisories.csv",
		"id,lake_id,kind,cause,issuer,text_en,text_de,url,issued,valid_from,valid_until,withdrawn\ns1,b,closure,bacteria,\"Amt & \"\"Söhne\"\"\",,,,2026-07-01T00:00:00Z,2026-07-01T00:00:00Z,2099-08-01T00:00:00Z,\n")
	limnomaptest.Run(t, "import", "advisories", statements, "--db", db)
	awaitEvents(t, s, 1)
	observe("2026-07-13", "60", "5")
	awaitEvents(t, s, 3)
	observe("2026-08-24", "", "5")
	awaitEvents(t, s, 4)
	for _, query := range []string{"", "?lake=b", "?region=Bayern&min_level=1", "?kind=advisory_issued", "?bbox=0,0,1,1"} {
		_, feed := limnomaptest.Get(t, s.Base+"/api/v1/events.atom"+query)
		readerOutputOf := func(command ...string) string { t.Helper(); return string(readerOutput(t, string(feed), command...)) }
		file := limnomaptest.WriteFile(t, t.TempDir(), "feed.xml", string(feed))
		if out, err := checkAtom(t, file); err != nil {
			t.Errorf("%s: %v\n%s", query, err, out)
		}
		one, other := readerOutputOf("node", tellingFolder+"/feed.mjs"), readerOutputOf("/usr/bin/python3", tellingFolder+"/feed.py")
		type read struct {
			Title   string
			Entries []struct{ ID, Title, Date, Link, Summary string }
		}
		var a, b read
		mustDo(t, json.Unmarshal([]byte(one), &a))
		mustDo(t, json.Unmarshal([]byte(other), &b))
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: rss-parser reads\n%+v\nfeedparser reads\n%+v", query, a, b)
		}
		var page struct {
			Events []struct {
				At     string
				LakeID string `json:"lake_id"`
			}
		}
		limnomaptest.GetJSON(t, s.Base+"/api/v1/events"+query, &page)
		slices.Reverse(page.Events)
		if len(a.Entries) != len(page.Events) {
			t.Fatalf("%s: the feed has %d entries, the API %d events", query, len(a.Entries), len(page.Events))
		}
		for i, e := range page.Events {
			if at := strings.TrimSuffix(e.At, "Z") + ".000Z"; a.Entries[i].Date != at || a.Entries[i].Link != s.Base+"/#lake="+e.LakeID {
				t.Errorf("%s: entry %d is %+v, the event %+v", query, i, a.Entries[i], e)
			}
		}
		if query == "?lake=b" && (!strings.Contains(a.Title, "Größer & <See>") || !strings.Contains(a.Entries[len(a.Entries)-1].Title, `Amt & "Söhne"`)) {
			t.Errorf("names are read as %+v", a)
		}
	}
}

// checkAtom checks a feed with the schema.
func checkAtom(t *testing.T, file string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "xmllint", "--noout", "--relaxng", tellingFolder+"/atom.rng", file).CombinedOutput()
	return string(out), err
}
