package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/cmd/limnomap/limnomaptest"
)

// readFile returns a file of this folder.
func readFile(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return string(text)
}

// output returns what a command prints, including stderr. It fails the test unless the exit code is 0.
func output(t testing.TB, command string, args ...string) string {
	t.Helper()
	out, err := exec.Command(command, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func duration(t testing.TB, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	must(t, err)
	return d
}

var variable = regexp.MustCompile(`\bLIMNOMAP_[A-Z_]+\b`)

// wantVariables fails the test for each variable in text, also in comments, that is not a flag of the command.
func wantVariables(t testing.TB, name, text, command string) {
	t.Helper()
	known := variable.FindAllString(limnomaptest.Run(t, command, "--help"), -1)
	found := variable.FindAllString(text, -1)
	if len(found) == 0 {
		t.Errorf("%s sets no variable", name)
	}
	for _, v := range found {
		if !slices.Contains(known, v) {
			t.Errorf("%s has %s, which no flag of limnomap %s is set by", name, v, command)
		}
	}
}

// wantAccepted fails the test unless the command would start with that environment and no flags. An SQLite database
// exists, as after an import.
func wantAccepted(t testing.TB, name string, environment map[string]string, command string) {
	t.Helper()
	cmd := exec.Command(limnomaptest.Binary(t), "config", command)
	cmd.Env = limnomaptest.Environ()
	for variable, value := range environment {
		if variable == "LIMNOMAP_DB" && strings.HasSuffix(value, ".db") {
			value = demoDatabase(t, t.TempDir())
		}
		cmd.Env = append(cmd.Env, variable+"="+value)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: limnomap config %s with %v: %v\n%s", name, command, environment, err, out)
	}
}

// stopping returns how long a server with the default flags takes to stop at most, according to its help.
func stopping(t testing.TB) time.Duration {
	t.Helper()
	help := strings.Join(strings.Fields(limnomaptest.Run(t, "serve", "--help")), " ")
	var sum time.Duration
	for _, flag := range []string{"drain", "shutdown"} {
		m := regexp.MustCompile(`--` + flag + `=(\w+)`).FindStringSubmatch(help)
		if m == nil {
			t.Fatalf("the help does not have the default of --%s", flag)
		}
		d, err := time.ParseDuration(m[1])
		must(t, err)
		sum += d
	}
	return sum
}

const (
	demoLakes = 200
	demoLake  = "lake_0"
)

// lakePlace returns the position of a lake of demoDatabase.
func lakePlace(i int) orb.Point { return orb.Point{7 + float64(i%20)*0.31, 48 + float64(i/20)*0.43} }

// demoDatabase creates an SQLite database in dir, with some lakes and two weeks of values, and returns its path.
func demoDatabase(t testing.TB, dir string) string {
	t.Helper()
	var lakes, values strings.Builder
	lakes.WriteString("id,name,lat,lon\n")
	values.WriteString("lake_id,date,chl,data_type\n")
	for i := range demoLakes {
		place := lakePlace(i)
		fmt.Fprintf(&lakes, "lake_%d,Lake %d,%.4f,%.4f\n", i, i, place.Lat(), place.Lon())
		fmt.Fprintf(&values, "lake_%d,2026-11-01,%d,satellite\nlake_%d,2026-11-08,%d,satellite\n", i, 1+i%60, i, 1+i%70)
	}
	db := filepath.Join(dir, "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakes.String()), "--db", db)
	limnomaptest.Run(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", values.String()), "--db", db)
	return db
}
