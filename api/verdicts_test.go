package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/api/record"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/snapshot"
)

var update = flag.Bool("update", false, "rewrite the cases of verdicts")

// TestVerdictsOfTheMap compares the verdicts of all sorts of lakes with web/test/verdicts.json, which the test of the page's script reads too: the
// pages made here and the map say the same.
func TestVerdictsOfTheMap(t *testing.T) {
	texts, err := words.Load[struct{}](os.DirFS("../web"), "table")
	if err != nil {
		t.Fatal(err)
	}
	english, today := texts.For("en", nil), data.DateOf(testNow())
	type verdict struct {
		Class  string   `json:"class"`
		Risk   string   `json:"risk"`   // in words
		Swim   string   `json:"swim"`   // in words
		People []string `json:"people"` // the advice to swimmers, small children and dogs
		Old    bool     `json:"old"`
		Warned bool     `json:"warned"`
		Worse  string   `json:"worse"`
	}
	type testCase struct {
		Lake    json.RawMessage `json:"lake"`
		Verdict verdict         `json:"verdict"`
	}
	file := struct {
		Now   string     `json:"now"`
		Cases []testCase `json:"cases"`
	}{Now: testNow().Format(time.RFC3339)}
	source := verdictLakes(today)
	snap, err := snapshot.Load(t.Context(), source, &snapshot.Options{Present: data.ByClock(testNow)})
	if err != nil {
		t.Fatal(err)
	}
	e := testServer(t).common.encoder
	for i := range snap.Lakes {
		v := words.VerdictOf(snap.Current, i, today)
		c := testCase{Verdict: verdict{v.Class.String(), english.RiskText(&v), english.SwimText(&v), nil, v.Old, v.Warned, ""}}
		for _, a := range english.AdviceOf(&v) {
			c.Verdict.People = append(c.Verdict.People, a.Text)
		}
		if v.ValueClass != words.NoValue {
			c.Verdict.Worse = v.Worse
		}
		c.Lake = statusMembers.AppendObject(nil, record.Member, e.lake(snap.Current, i))
		file.Cases = append(file.Cases, c)
	}
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(file); err != nil {
		t.Fatal(err)
	}
	lines := bytes.ReplaceAll(got.Bytes(), []byte(`{"lake":`), []byte("\n{\"lake\":"))
	path := filepath.Join("..", "web", "test", "verdicts.json")
	if *update {
		if err := os.WriteFile(path, lines, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(lines, want) {
		t.Errorf("verdicts are not those of %s; go test ./api -run TestVerdictsOfTheMap -args -update writes it. They are\n%s", path, lines)
	}
}

// verdictLakes has lakes with each value, age, reason of the level and statement.
func verdictLakes(today data.Date) *fakeSource {
	f := &fakeSource{revision: data.Revision{Number: 1, ChangedAt: testNow()}}
	add := func(name string, statement data.AdvisoryKind, observations ...data.Observation) {
		id := data.LakeID(fmt.Sprintf("lake_%02d", len(f.lakes)))
		f.lakes = append(f.lakes, data.Lake{ID: id, Name: name, Point: orb.Point{10, 50}})
		for _, o := range observations {
			o.LakeID = id
			f.observations = append(f.observations, o)
		}
		if statement != data.NoAdvisory {
			f.advisories = append(f.advisories, data.Advisory{ID: data.AdvisoryID("s-" + string(id)), LakeID: id, Kind: statement, Cause: data.Cyanobacteria,
				Issuer: "Office", Issued: testNow().AddDate(0, 0, -1), ValidFrom: testNow().AddDate(0, 0, -1)})
		}
	}
	value := func(age int, chl data.Chlorophyll, level data.Level, cells float64) data.Observation {
		return data.Observation{Date: today - data.Date(age), Type: data.InSitu, Chlorophyll: chl, Level: level, CellDensity: cells}
	}
	const none = data.NoCellDensity
	for _, kind := range []data.AdvisoryKind{data.NoAdvisory, data.Info, data.Warning, data.Closure} {
		name := kind.String()
		add("never measured "+name, kind)
		add("low "+name, kind, value(0, 3_00, data.NoLevel, none))
		add("medium "+name, kind, value(14, 20_00, data.NoLevel, none))
		add("high "+name, kind, value(2, 80_00, data.NoLevel, none))
		add("old "+name, kind, value(15, 80_00, data.NoLevel, none))
		add("old medium "+name, kind, value(15, 20_00, data.NoLevel, none))
		add("gap after a value "+name, kind, value(9, 20_00, data.NoLevel, none), value(1, data.NoChlorophyll, data.NoLevel, none))
		add("long without a value "+name, kind, value(120, 80_00, data.NoLevel, none))
		add("count "+name, kind, value(1, 3_00, data.NoLevel, 150_000))
		index := value(1, 3_00, data.NoLevel, 150_000)
		index.Type = data.Satellite
		add("index "+name, kind, index)
		add("report "+name, kind, value(1, 3_00, 3, none))
		add("old report "+name, kind, value(20, 3_00, 2, none))
	}
	return f
}
