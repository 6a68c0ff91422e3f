package index_test

import (
	"context"
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/demo"
	"limnomap/data/index"
)

// A search is a text with the id of its first hit and the number of all hits. Without an id nothing is found.
type search struct {
	q     string
	first data.LakeID
	count int
}

func checkSearches(t *testing.T, lakes []data.Lake, searches []search) {
	t.Helper()
	names := index.NewNameIndex(lakes)
	for _, s := range searches {
		var first data.LakeID
		found := names.Find(s.q, len(lakes))
		if len(found) > 0 {
			first = lakes[found[0]].ID
		}
		if first != s.first || len(found) != s.count {
			t.Errorf("Find(%q) has %q first of %d, want %q of %d", s.q, first, len(found), s.first, s.count)
		}
	}
}

func TestFirstHitsOfTheDemo(t *testing.T) {
	var lakes []data.Lake
	source := demo.New(func() time.Time { return time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC) })
	keep := func(l data.Lake) error {
		lakes = append(lakes, l)
		return nil
	}
	if _, err := source.Scan(context.Background(), keep, func(data.Observation) error { return nil }); err != nil {
		t.Fatal(err)
	}
	checkSearches(t, lakes, []search{
		{"Mügelsee", "de_be_grosser_mueggelsee", 1},
		{"Müggelsee Berlin", "de_be_grosser_mueggelsee", 1},
		{"Köln", "", 0},
		{"10115", "", 0},
		{"Munich", "", 0},
		{"Berlin", "de_be_gross_glienicker_see", 10},
		{"Überlingen", "", 0},
		{"Bayern", "de_by_abtsdorfer_see", 59},
		{"Bavaria", "de_by_abtsdorfer_see", 59},
		{"NRW", "de_nw_aggertalsperre", 33},
		{"BB", "de_bb_altdoeberner_see", 57},
		{"Saxony", "de_sn_ammelshainer_see", 70},
		{"Lower Saxony", "de_ni_alfsee", 22},
		{"starnberger see", "de_by_starnberger_see", 1},
		{"see starnberg", "de_by_starnberger_see", 1},
		{"Bodensee", "de_bw_bodensee_obersee", 2},
		{"Chiemsee", "de_by_chiemsee", 1},
		{"chimsee", "de_by_chiemsee", 1},
		{"wansee", "de_be_grosser_wannsee", 1},
		{"muritz", "de_mv_mueritz", 1},
		{"Amersee", "de_by_ammersee", 1},
		{"meer steinhude", "de_ni_steinhuder_meer", 1},
		{"Plön", "de_sh_grosser_ploener_see", 2},
		{"Schwerriner See", "de_mv_schweriner_see", 1},
		{"hamburg", "de_hh_aussenalster", 4},
		{"Alster", "de_hh_aussenalster", 1},
		{"Tegrensee", "de_by_tegernsee", 1},
		{"Tegeler See Berlin", "de_be_tegeler_see", 1},
		{"Weisser See", "de_be_weisser_see", 1},
		{"Rhineland-Palatinate", "de_rp_blaue_adria", 14},
		{"thuringia", "de_th_bleilochtalsperre", 11},
		{"de_by", "de_by_abtsdorfer_see", 60},
		{"bawü", "", 0},
	})
}

func TestFirstHitsOfRealSites(t *testing.T) {
	const file = "../../../shared/data/german_bathing_sites.csv"
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: %s is absent, so nothing real is checked here", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var lakes []data.Lake
	for _, row := range rows[1:] {
		lakes = append(lakes, data.Lake{ID: data.LakeID(row[0]), ExternalID: row[0], Name: row[1]}) // the id names the state
	}
	names := index.NewNameIndex(lakes)
	for _, test := range []struct{ q, id, name string }{ // the beginning of the first hit's id, and a part of its name
		{"Mügelsee", "DEBE", "müggelsee"},
		{"Müggelsee Berlin", "DEBE", "müggelsee"},
		{"Köln", "", ""},
		{"10115", "", ""},
		{"Berlin", "DEBE", ""},
		{"Überlingen", "DEBW", "überlingen"},
		{"Bavaria", "DEBY", ""},
		{"NRW", "DENW", ""},
		{"Sachsen", "DEBY", "sachsen"},
		{"Lower Saxony", "DENI", ""},
		{"see starnberg", "DEBY", "starnberger see"},
		{"Bodensee", "DEBY", "bodensee"},
		{"chimsee", "DEBY", "chiemsee"},
		{"wansee", "DEBY", "schwansee"},
		{"Müritz", "DEMV", "mueritz"},
		{"muritz", "DEMV", "mueritz"},
		{"strandbad ost", "DEBW", "strandbad ost"},
		{"DEBB_PR_0001", "DEBB_PR_0001", ""},
		{"debb pr 0001", "DEBB_PR_0001", ""},
		{"Ammersee", "DEBY", "ammersee"},
		{"amersee", "DEBY", "ammersee"},
		{"Titisee", "DEBW", "titisee"},
		{"meer steinhude", "DENI", "steinhuder meer"},
		{"ploner see", "DESH", "plöner see"},
		{"Schwerriner See", "DEBB", "schweriner see"},
		{"hamburg", "DEHH", ""},
		{"Tegrensee", "DEBY", "tegernsee"},
		{"Tegeler See Berlin", "DEBE", "tegeler see"},
		{"Weisser See", "DEMV", "weisser see"},
		{"weißensee", "DEBY", "weissensee"},
		{"strandbad wannsee", "DEBE", "wannsee"},
		{"Saarland", "DESL", ""},
		{"überlignen", "DEBW", "überlingen"},
	} {
		var first data.Lake
		if found := names.Find(test.q, 1); len(found) > 0 {
			first = lakes[found[0]]
		}
		if (test.id == "") != (first.ID == "") || !strings.HasPrefix(string(first.ID), test.id) || !strings.Contains(strings.ToLower(first.Name), test.name) {
			t.Errorf("Find(%q) has %q (%s) first, want %q (%s…)", test.q, first.Name, first.ID, test.name, test.id)
		}
	}
}
