package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
)

// A product that shows twice what samples have is called biased by the command, the API and the metrics, in both databases.
func TestAccuracyOfAPlantedBias(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("lake_id,date,chl,data_type,source,quality\n")
	first, _ := data.ParseDate("2023-03-06")
	for k := range 20 {
		d, chl := first+data.Date(14*k), 4+float64(k%7)
		fmt.Fprintf(&rows, "mueggelsee,%s,%.2f,satellite,LWQ,good\nmueggelsee,%s,%.2f,in_situ,lab,\n", d, 2*chl, d+2, chl)
		fmt.Fprintf(&rows, "mueggelsee,%s,900,satellite,LWQ,poor\nstechlin,%s,3,satellite,LWQ,good\n", d+1, d)
	}
	observations := limnomaptest.WriteFile(t, dir, "obs.csv", rows.String())
	lakes := limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV)
	for name, db := range map[string]string{"sqlite": filepath.Join(dir, "lakes.db"), "postgres": ""} {
		t.Run(name, func(t *testing.T) {
			if db == "" {
				db = newPostgres(t)
			}
			mustRun(t, "import", "lakes", lakes, "--db", db)
			mustRun(t, "import", "observations", observations, "--db", db)
			out := mustRun(t, "accuracy", "--by", "lake", "--db", db)
			if line := strings.Fields(out[strings.IndexByte(out, '\n')+1:]); len(line) < 5 || strings.Join(line[:5], " ") != "LWQ mueggelsee 20 1 2.00" || line[len(line)-1] != "yes" {
				t.Errorf("the command says\n%s", out)
			}
			if out = mustRun(t, "accuracy", "--lake", "mueggelsee", "--db", db); strings.Count(out, "+0.69") != 20 || strings.Contains(out, "900") {
				t.Errorf("of the lake the command says\n%s", out)
			}
			if out = mustRun(t, "accuracy", "--match-days", "1", "--db", db); !strings.HasPrefix(out, "No pass of a satellite is near a sample") {
				t.Errorf("with a day the command says\n%s", out)
			}
			base, _ := startServer(t, "--db", db, "--as-of", "data")
			limnomaptest.Within(t, patience, "the metrics know the bias", func() bool {
				_, body := limnomaptest.Get(t, base+"/metrics")
				return strings.Contains(string(body), `limnomap_accuracy_biased_lakes{product="LWQ"} 1`)
			})
			resp, body := limnomaptest.Get(t, base+"/api/v1/bathing-lakes/accuracy?lake=mueggelsee")
			if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"biased":true`) || !strings.Contains(string(body), `"factor":2,`) {
				t.Errorf("the API says %s %s", resp.Status, body)
			}
		})
	}
}
