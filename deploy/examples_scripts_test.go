package deploy

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// firstWeek is the Monday of the first observations.
var firstWeek = time.Date(2025, 1, 6, 0, 0, 0, 0, time.UTC)

func week(n int) string { return firstWeek.AddDate(0, 0, 7*n).Format(time.DateOnly) }

// Weeks of the lake "gappy": values, rows without a value, no rows, values, two forecasts, and a sample.
const (
	gapFrom, gapTo       = 10, 20
	absentFrom, absentTo = 30, 35
	weeksMeasured        = 45
	gappyValue           = "40.00"
)

// makeScriptLakes creates a database of lakes that are difficult for a script, and returns its path.
func makeScriptLakes(t *testing.T) (db string) {
	t.Helper()
	dir := t.TempDir()
	db = filepath.Join(dir, "lakes.db")
	lakes := limnomaptest.WriteFile(t, dir, "lakes.csv", `id,name,lat,lon
gappy,Müggelsee,52.43,13.64
0012,TRUE,53.5,13
zero,"Clear, ""Little"" Lake",54,10
never,Never Seen,48,11
old,Once Clean,50,9
`)
	var obs strings.Builder
	obs.WriteString("lake_id,date,chl,data_type\n")
	for n := range weeksMeasured {
		switch {
		case n >= absentFrom && n < absentTo:
		case n >= gapFrom && n < gapTo:
			fmt.Fprintf(&obs, "gappy,%s,,satellite\n", week(n))
		default:
			fmt.Fprintf(&obs, "gappy,%s,%s,satellite\n", week(n), gappyValue)
		}
	}
	fmt.Fprintf(&obs, "gappy,%s,20,ai_forecast\ngappy,%s,20,ai_forecast\n", week(weeksMeasured), week(weeksMeasured+1))
	fmt.Fprintf(&obs, "gappy,%s,30,in_situ\n", week(25))
	fmt.Fprintf(&obs, "0012,%s,61.5,satellite\nzero,%s,0,satellite\nold,%s,1.5,satellite\n", week(44), week(44), week(3))
	limnomaptest.Run(t, "import", "lakes", lakes, "--db", db)
	limnomaptest.Run(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", obs.String()), "--db", db)
	limnomaptest.Run(t, "import", "advisories", limnomaptest.WriteFile(t, dir, "advisories.csv", `id,lake_id,kind,cause,issuer,issued,valid_from,valid_until
a,zero,closure,bacteria,Amt,2025-07-01,2025-07-01,
b,never,closure,other,Amt,2025-07-01,2025-07-01,
c,0012,warning,cyanobacteria,Amt,2025-07-01,2025-07-01,
d,gappy,closure,cyanobacteria,Amt,2025-07-01,2025-07-01,2025-07-31
`), "--db", db)
	return db
}

// A recorder is a proxy that records requests and answers.
type recorder struct {
	URL string

	mu     sync.Mutex
	notes  []string           // STATUS PATH?QUERY CODING
	faults []http.HandlerFunc // answer the next requests instead of the server
	notice string             // X-Data-Notice of the answers
}

func startRecorder(t *testing.T, server string) *recorder {
	t.Helper()
	r := new(recorder)
	r.URL = limnomaptest.Front(t, server, r.answer, func(answer *http.Response) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.notice != "" {
			answer.Header.Set("X-Data-Notice", r.notice)
		}
		r.notes = append(r.notes, strings.TrimSpace(fmt.Sprint(answer.StatusCode, " ", answer.Request.URL.RequestURI(), " ", answer.Header.Get("Content-Encoding"))))
	})
	return r
}

// answer uses the next fault, if there is one.
func (r *recorder) answer(w http.ResponseWriter, request *http.Request) bool {
	r.mu.Lock()
	faults := r.faults
	if len(faults) > 0 {
		r.faults = faults[1:]
	}
	r.mu.Unlock()
	if len(faults) > 0 {
		faults[0](w, request)
	}
	return len(faults) > 0
}

// shed answers as an overloaded server.
func shed(w http.ResponseWriter, _ *http.Request) { answerProblem(w, http.StatusServiceUnavailable) }

// cutOff answers as a server that ends in the middle of an answer.
func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	fmt.Fprint(w, `{"lakes":[`)
}

// taken returns the records since the last call.
func (r *recorder) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	notes := r.notes
	r.notes = nil
	return notes
}

func (r *recorder) failNext(faults ...http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = faults
}

func (r *recorder) setNotice(notice string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notice = notice
}

// runScript runs an example in a locale without umlauts, as cron does.
func runScript(t *testing.T, command ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PYTHONDONTWRITEBYTECODE=1")
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	return out.String(), complaint.String(), err
}

const (
	statusPath  = "/api/v1/bathing-lakes/status"
	historyPath = "/api/v1/bathing-lakes/history/gappy.csv?limit=50"
)

func TestExampleInPython(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "python3")
	t.Log(mustRun(t, "python3", "--version"))
	db := makeScriptLakes(t)
	server := limnomaptest.Start(t, "--db", db, "--api-rate", "0")
	checkPython(t, startRecorder(t, server.Base), server, db)
}

func checkPython(t *testing.T, front *recorder, server *limnomaptest.Server, db string) {
	command := []string{"python3", "examples/lakes.py", "--server", front.URL, "--count", "50", "--history", "gappy", "--cache", t.TempDir()}
	out, complaint, err := runScript(t, command...)
	if err != nil || complaint != "" {
		t.Fatalf("%v\n%s", err, complaint)
	}
	if got := oneSpace(out); !strings.HasPrefix(got, lakesText) || strings.Count(got, " –\n") != gapTo-gapFrom || !strings.Contains(got, "\n2025-06-30 30.00\n2025-06-30 40.00\n") {
		t.Errorf("lakes.py prints\n%s\nwant\n%s… and %d gaps", got, lakesText, gapTo-gapFrom)
	}
	if got, want := front.taken(), []string{"200 " + statusPath + " gzip", "200 " + historyPath + " gzip"}; !slices.Equal(got, want) {
		t.Errorf("lakes.py asked for %q, want %q", got, want)
	}

	// The second run downloads nothing and shows the same, with the notice of the server.
	front.setNotice("Simulated demo data, not measurements")
	again, complaint, err := runScript(t, command...)
	if err != nil || again != out || strings.Count(complaint, "unchanged: ") != 2 || strings.Count(complaint, "notice: Simulated demo data") != 2 {
		t.Errorf("the second time: %v\n%s\n%s", err, again, complaint)
	}
	front.setNotice("")
	if got, want := front.taken(), []string{"304 " + statusPath, "304 " + historyPath}; !slices.Equal(got, want) {
		t.Errorf("the second time lakes.py asked for %q, want %q", got, want)
	}

	// A risk is also that of a last value.
	filtered, complaint, err := runScript(t, append(slices.Clone(command), "--risk", "low")...)
	if err != nil || complaint == "" || !strings.HasPrefix(filtered, "2 lakes of low risk, 1 with a current value") || !strings.Contains(filtered, "Once Clean") || strings.Contains(filtered, "Never Seen") {
		t.Errorf("of low risk lakes.py prints\n%s\n%v %s", filtered, err, complaint)
	}
	if got, want := front.taken(), []string{"200 " + statusPath + "?risk=low&include_stale=true gzip", "304 " + historyPath}; !slices.Equal(got, want) {
		t.Errorf("of low risk lakes.py asked for %q, want %q", got, want)
	}

	// Changed data are downloaded, even if the server first cuts off an answer or is overloaded.
	news := limnomaptest.WriteFile(t, t.TempDir(), "news.csv", fmt.Sprintf("lake_id,date,chl,data_type\ngappy,%s,77.25,satellite\n", week(weeksMeasured)))
	limnomaptest.Run(t, "import", "observations", news, "--db", db)
	limnomaptest.Within(t, patience, "the server shows the import", func() bool {
		_, body := limnomaptest.Get(t, server.Base+statusPath)
		return bytes.Contains(body, []byte("77.25"))
	})
	front.failNext(cutOff, shed)
	out, complaint, err = runScript(t, command...)
	if err != nil || strings.Count(out, "77.25") != 2 || complaint != "" {
		t.Errorf("after an import: %v\n%s\n%s", err, out, complaint)
	}

	// A console without umlauts, an impossible cache folder, and an unknown lake.
	out, complaint, err = runScript(t, "env", "PYTHONIOENCODING=ascii", "python3", "examples/lakes.py",
		"--server", front.URL, "--history", "nowhere", "--cache", "examples/lakes.py")
	if err == nil || !strings.Contains(out, "M?ggelsee") || strings.Count(complaint, "not kept: ") != 1 ||
		!strings.Contains(complaint, "404 Not Found: No lake has this id.") {
		t.Errorf("of a lake that is not there: %v\n%s\n%s", err, out, complaint)
	}
}

// lakesText is what lakes.py prints about makeScriptLakes, up to the last weeks of a history.
const lakesText = `5 lakes, 3 with a current value, as of DAY

2 lakes are CLOSED by an official statement
never CLOSED – – never Never Seen
zero CLOSED 0.00 low 2025-11-10 Clear, "Little" Lake

The highest values, chlorophyll-a in µg/l
0012 warning 61.50 high 2025-11-10 TRUE
gappy 40.00 medium 2025-11-10 Müggelsee
zero CLOSED 0.00 low 2025-11-10 Clear, "Little" Lake

2 lakes have no current value; the risk is that of their last one
never CLOSED – – never Never Seen
old – low 2025-01-27 Once Clean

gappy, the newest 50
2025-11-24 20.00 forecast
2025-11-17 20.00 forecast
2025-11-10 40.00
`

// oneSpace returns a text with one space between words, and without the day of the data.
func oneSpace(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return regexp.MustCompile(`as of [\d-]+`).ReplaceAllString(strings.Join(lines, "\n"), "as of DAY")
}

func chlText(chl *float64) string {
	if chl == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *chl)
}

// A historyEntry is one value of a lake's history, or a gap.
type historyEntry struct {
	Date     string
	Chl      *float64
	DataType string `json:"data_type"`
}

func readHistory(t *testing.T, server, lake string) []historyEntry {
	t.Helper()
	var history struct{ History []historyEntry }
	limnomaptest.GetJSON(t, server+"/api/v1/bathing-lakes/history/"+lake+"?limit=50", &history)
	return history.History
}

// mustRun is run for a command that must succeed.
func mustRun(t *testing.T, command ...string) string {
	t.Helper()
	out, err := run(t, command...)
	must(t, err)
	return out
}

// run runs a command and returns its output, or its error messages if it fails.
func run(t *testing.T, command ...string) (stdout string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, &stderr)
	}
	return string(out), err
}
