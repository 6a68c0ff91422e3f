package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
	"limnomap/data/store"
)

// seasonsDB makes a database of lakes with a season and noise, and of some without enough values. The newest is of 2024-06-10.
func seasonsDB(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(20, 2))
	lakes, values := "id,name,lat,lon,region\n", "lake_id,date,chl,data_type\n"
	last := time.Date(2024, 6, 10, 0, 0, 0, 0, time.UTC)
	for i := range 12 {
		lakes += fmt.Sprintf("l%02d,Lake %d,50,%d,R%d\n", i, i, i, i%2)
		for w := range 160 {
			if i == 10 && w > 3 || i == 11 && w < 7 { // few values, and an old one
				continue
			}
			day := last.AddDate(0, 0, -7*w)
			level := 1.8 - 0.9*math.Cos(2*math.Pi*float64(day.YearDay())/365.25) + 0.5*random.NormFloat64()
			values += fmt.Sprintf("l%02d,%s,%.2f,satellite\n", i, day.Format(time.DateOnly), math.Exp(level))
		}
	}
	lakes += "none,Never seen,50,20,R1\n"
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakes), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", values), "--db", db)
	return db
}

func issuesOf(t *testing.T, db string) []data.ForecastIssue {
	t.Helper()
	s, err := store.Open(t.Context(), db, false)
	mustDo(t, err)
	defer s.Close()
	issues, err := s.ForecastIssues(t.Context())
	mustDo(t, err)
	return issues
}

func TestForecastCommand(t *testing.T) {
	db := seasonsDB(t)
	out := filepath.Join(t.TempDir(), "forecasts.csv")
	const want = "13 lakes: 10 forecast (40 rows), 3 withheld: 2 fewer than 5 values, 1 last value older than 42 days\nissued 2024-06-10"
	if got := mustRun(t, "forecast", "--db", db, "--dry-run"); got != want+"\n" {
		t.Errorf("a dry run prints %q, want %q", got, want)
	}
	if issues := issuesOf(t, db); len(issues) != 0 {
		t.Errorf("a dry run wrote %+v", issues)
	}
	if got := mustRun(t, "forecast", "--db", db, "--out", out); got != want+"\n" {
		t.Errorf("it prints %q, want %q", got, want)
	}
	if got := mustRun(t, "forecast", "--db", db); got != want+"; nothing has changed since the last forecast of that day\n" {
		t.Errorf("again it prints %q", got)
	}
	table, err := os.ReadFile(out)
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	if err != nil || len(lines) != 41 || lines[0] != "lake_id,issued_at,target_date,chl,lower,upper,sigma,based_on,model" ||
		!strings.HasPrefix(lines[1], "l00,2024-06-10,2024-06-17,") || !strings.HasSuffix(lines[1], ",2024-06-10,limnomap-1") {
		t.Errorf("the file is %v\n%s", err, table)
	}
	if _, _, err := runCommand(t, "forecast", "--db", db, "--out", out); err == nil || !strings.Contains(err.Error(), out) {
		t.Errorf("with an existing file: %v, want an error that names it", err)
	}
	piped, _, err := runCommand(t, "forecast", "--db", db, "--out", "-")
	if err != nil || piped != string(table) {
		t.Errorf("standard output has %q, %v", piped, err)
	}
	mustRun(t, "forecast", "--db", db, "--origin", "2024-05-31", "--horizon", "2", "--forecast-keep", "5d")
	mustRun(t, "forecast", "--db", db, "--origin", "2024-06-09", "--forecast-keep", "5d")
	issues := issuesOf(t, db)
	if len(issues) != 2 || issues[1].Issued.String() != "2024-06-09" {
		t.Errorf("the issues are %+v, want that of 2024-05-31 removed", issues)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--horizon", "5"}, "--horizon"}, {[]string{"--origin", "yesterday"}, "--origin"}, {[]string{"--forecast-keep", "5h"}, "--forecast-keep"},
	} {
		if _, _, err := runCommand(t, append([]string{"forecast", "--db", db}, test.args...)...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want an error with %q", test.args, err, test.want)
		}
	}
}

func TestBacktestCommand(t *testing.T) {
	db := seasonsDB(t)
	out := filepath.Join(t.TempDir(), "rows.csv")
	printed := mustRun(t, "forecast", "--test", "--db", db, "--out", out)
	for _, want := range []string{"persistence", "climatology", "AR(1)", "median factor", "reached 10 µg/l", " sudden rises to 10 µg/l, ", "One week ahead the forecast is 2", " % closer than last week's value, in "} {
		if !strings.Contains(printed, want) {
			t.Errorf("it prints no %q:\n%s", want, printed)
		}
	}
	table, err := os.ReadFile(out)
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	if err != nil || len(lines) < 1000 || lines[0] != "lake_id,origin,target_date,chl,lower,upper,p10,p50,truth,truth_date" || strings.Count(lines[1], ",") != 9 {
		t.Errorf("the file has %d lines, %v, and begins with %q", len(lines), err, lines[:2])
	}
	if issues := issuesOf(t, db); len(issues) != 0 {
		t.Errorf("it wrote %+v", issues)
	}
}

// Forecasts that are worse than the last value are an error, and the tables are printed nevertheless.
func TestWorthlessForecasts(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	lakes, values := "id,name,lat,lon\n", "lake_id,date,chl,data_type\n"
	for i := range 10 {
		lakes += fmt.Sprintf("l%d,Lake,50,%d\n", i, i)
		for w := range 160 {
			values += fmt.Sprintf("l%d,%s,%d,satellite\n", i, time.Date(2024, 6, 10-7*w, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), 5+i)
		}
	}
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakes), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", values), "--db", db)
	printed, _, err := runCommand(t, "forecast", "--test", "--db", db)
	if err == nil || !strings.Contains(err.Error(), "not less than that of the last value") || !strings.Contains(printed, "persistence") {
		t.Errorf("the error is %v, and it prints\n%s", err, printed)
	}
	if _, _, err := runCommand(t, "forecast", "--db", db); err == nil || !strings.Contains(err.Error(), "not worth showing") {
		t.Errorf("forecast: %v, want that it is not worth showing", err)
	}
	if printed := mustRun(t, "forecast", "--db", db, "--force"); !strings.Contains(printed, "written by force") {
		t.Errorf("forced it prints %q", printed)
	}
}

// A refresh makes forecasts, also when nothing was new, and fails if they are not worth showing.
func TestRefreshForecasts(t *testing.T) {
	db := seasonsDB(t)
	in := t.TempDir()
	limnomaptest.WriteFile(t, in, "more.csv", "lake_id,date,chl,data_type\nl00,2024-06-11,9,satellite\n")
	mustRun(t, "refresh", "--db", db, "--from", in)
	if issues := issuesOf(t, db); len(issues) != 0 {
		t.Errorf("a refresh without --forecast made %+v", issues)
	}
	mustRun(t, "refresh", "--db", db, "--from", in, "--forecast")
	if issues := issuesOf(t, db); len(issues) != 1 || issues[0].Issued.String() != "2024-06-11" || issues[0].Counts.Lakes != 10 {
		t.Errorf("the issues are %+v, want one of 2024-06-11 with 10 lakes", issues)
	}
	if _, _, err := runCommand(t, "serve", "--forecast"); err == nil || !strings.Contains(err.Error(), "--forecast needs --refresh-from") {
		t.Errorf("serve --forecast without a source: %v", err)
	}
}
