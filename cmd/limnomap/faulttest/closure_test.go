//go:build unix

package faulttest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// closurePatience is how long a closure may take on each way. The promise is a minute on a machine that is not busy.
const closurePatience = 5 * time.Minute

// A closureFault is a row of the table.
type closureFault struct {
	name string
	test func(*closureTest)
}

// TestClosureIsTold imports closures while something fails and afterwards, and waits until each reader knows of them. It prints the table of the
// times; it asserts only that each closure is told on each way, that nothing else is told wrongly in the end, and that no event and no
// subscription is lost.
func TestClosureIsTold(t *testing.T) {
	table := &closureTable{cells: make(map[string]map[string][]string)}
	t.Cleanup(func() { t.Log(table) })
	for _, fault := range append([]closureFault{
		{"a slow source", slowSource},
	}, longClosureFaults()...) {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			c := newClosureTest(t)
			defer func() { table.add(fault.name, c) }()
			fault.test(c)
			c.check()
		})
	}
}

// A closureTable has the seconds until the closures were known, by fault and way.
type closureTable struct {
	mu     sync.Mutex
	faults []string
	cells  map[string]map[string][]string
}

func (table *closureTable) add(fault string, c *closureTest) {
	table.mu.Lock()
	defer table.mu.Unlock()
	table.faults = append(table.faults, fault)
	table.cells[fault] = c.cells
	c.Logf("%v", c.cells)
}

// String writes the table. The closures of a cell are those during the fault and after it.
func (table *closureTable) String() string {
	var b strings.Builder
	b.WriteString("seconds from the import of a closure, or from the end of what made it impossible (+), until it was known\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "fault\t%s\n", strings.Join(ways, "\t"))
	slices.Sort(table.faults)
	for _, fault := range table.faults {
		fmt.Fprint(w, fault)
		for _, way := range ways {
			fmt.Fprint(w, "\t", strings.Join(table.cells[fault][way], " "))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // into memory
	return b.String()
}

// A closureTest is a server with a database, readers on each way, and what they learned when.
type closureTest struct {
	*testing.T
	*readers
	db, serverDB   string // of the commands and of the server
	command, serve func(args ...string) *exec.Cmd
	env            []string
	more           []string // flags of the server
	services       []string // push services
	server         *limnomaptest.Server
	closed         int // how many lakes are closed
	cells          map[string][]string
}

func newClosureTest(t *testing.T) *closureTest {
	t.Helper()
	c := &closureTest{T: t, readers: newReaders(t, "http://"+limnomaptest.FreeAddress(t)), cells: make(map[string][]string)}
	c.command = func(args ...string) *exec.Cmd { return limnomaptest.Command(t, args...) }
	c.serve, c.services = c.command, []string{c.service.URL}
	c.useDatabase(filepath.Join(t.TempDir(), "lakes.db"))
	return c
}

func (c *closureTest) useDatabase(db string) { c.db, c.serverDB = db, db }

const (
	closureLakes = 8
	oldClosure   = closureLakes - 1 // the lake that was closed before
	browsers     = 5
)

// start fills the database, starts the server, and lets the readers subscribe. One lake is closed already.
func (c *closureTest) start() {
	c.Helper()
	var lakes strings.Builder
	lakes.WriteString("id,name,lat,lon\n")
	for i := range closureLakes {
		fmt.Fprintf(&lakes, "lake_%d,Lake %[1]d,48,%g\n", i, lonOf(i))
	}
	c.put("lakes", lakes.String())
	c.observe(5)
	yesterday := time.Now().Add(-24 * time.Hour)
	c.put("advisories", advisory(closureOf(oldClosure), yesterday, yesterday.Add(30*24*time.Hour)))
	c.do("hooks", "create", "--db", c.db, "--hooks-allow-http", "--url", c.hook.URL)
	c.env = append(c.env, "LIMNOMAP_PUSH_KEY="+strings.TrimSpace(c.do("push", "keys")), "SSL_CERT_FILE="+c.roots(c.T))
	c.launch()
	limnomaptest.Within(c, patience, "the log begins", func() bool { return strings.Contains(c.server.Log.String(), "log of events written") })
	c.subscribeBrowsers(c.T, browsers, []string{"lake_0", "lake_1", "lake_2", "lake_3", "lake_4", "lake_7"})
	c.follow(c.T)
	c.observe(60)
	limnomaptest.Within(c, patience, "each lake has an event", func() bool {
		events, _ := c.events(c.T)
		return len(events) >= closureLakes
	})
}

// do runs a command that must succeed, and returns its output.
func (c *closureTest) do(args ...string) string {
	c.Helper()
	out, messages, err := c.run(args...)
	if err != nil {
		c.Fatalf("%q: %v\n%s%s", args, err, out, messages)
	}
	return out
}

func (c *closureTest) run(args ...string) (out, messages string, err error) {
	cmd := c.prepare(c.command(args...))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	return string(b), stderr.String(), err
}

// prepare gives a command the environment of the test. Ages count from the present day.
func (c *closureTest) prepare(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = slices.DeleteFunc(append(cmd.Env, c.env...), func(v string) bool { return strings.HasPrefix(v, "LIMNOMAP_AS_OF=") })
	return cmd
}

// put imports a table.
func (c *closureTest) put(kind, text string) {
	c.Helper()
	c.do("import", kind, limnomaptest.WriteFile(c, c.TempDir(), kind+".csv", text), "--db", c.db)
}

// observe imports a value of today for each lake.
func (c *closureTest) observe(chl int) {
	c.Helper()
	var rows strings.Builder
	rows.WriteString("lake_id,date,chl,data_type\n")
	for i := range closureLakes {
		fmt.Fprintf(&rows, "lake_%d,%s,%d,satellite\n", i, time.Now().UTC().Format(time.DateOnly), chl)
	}
	c.put("observations", rows.String())
}

const advisoryHeader = "id,lake_id,kind,cause,issuer,text_en,issued,valid_from,valid_until\n"

// advisory returns a table with a closure. The zero time is no end.
func advisory(of closedLake, from, until time.Time) string {
	end := ""
	if !until.IsZero() {
		end = until.UTC().Format(time.RFC3339)
	}
	at := from.UTC().Format(time.RFC3339)
	return fmt.Sprintf("%s%s,%s,closure,bacteria,Office,No bathing: %[2]s,%[4]s,%[4]s,%s\n", advisoryHeader, of.id, of.lake, at, end)
}

// launch starts the server at its address.
func (c *closureTest) launch() {
	c.Helper()
	c.server = c.launchAt(strings.TrimPrefix(c.base, "http://"), c.serve)
}

func (c *closureTest) launchAt(address string, serve func(args ...string) *exec.Cmd) *limnomaptest.Server {
	c.Helper()
	services := strings.ReplaceAll(strings.Join(c.services, ","), "https://", "")
	args := append([]string{"--cache-disk", "0", "--db", c.serverDB, "--listen", address, "--api-rate", "0", "--tile-rate", "0", "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8",
		"--push-contact", "mailto:lakes@example.org", "--push-services", services}, c.more...)
	s := limnomaptest.LaunchBy(c, func(args ...string) *exec.Cmd { return c.prepare(serve(args...)) }, args...)
	c.Cleanup(s.Kill)
	s.AwaitReady(c)
	return s
}

// next returns the closure of the next lake, which the readers wait for.
func (c *closureTest) next() closedLake {
	of := closureOf(c.closed)
	c.closed++
	c.await(of)
	return of
}

// awaitKnown waits until a closure is known on these ways, and notes the times since it was imported, or, where it was known after something
// ended that made it impossible, since that.
func (c *closureTest) awaitKnown(of closedLake, ways []string, imported, ended time.Time) {
	c.Helper()
	var known map[string]time.Time
	all := func() bool {
		known = c.knownOn(of.id)
		return !slices.ContainsFunc(ways, func(way string) bool { return known[way].IsZero() })
	}
	for end := time.Now().Add(closurePatience); !all() && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	for _, way := range ways {
		switch at := known[way]; {
		case at.IsZero():
			c.Errorf("%s is not told by %s within %v", of.id, way, closurePatience)
			c.cells[way] = append(c.cells[way], fmt.Sprintf("never (%.0f s)", closurePatience.Seconds()))
		case !ended.IsZero() && at.After(ended):
			c.cells[way] = append(c.cells[way], fmt.Sprintf("+%.1f", at.Sub(ended).Seconds()))
		default:
			c.cells[way] = append(c.cells[way], fmt.Sprintf("%.1f", at.Sub(imported).Seconds()))
		}
	}
}

// check waits until the log says what is so, and fails unless it has all events, each reader of the log has them, and each browser is still told.
func (c *closureTest) check() {
	c.Helper()
	var wrong string
	var events []toldEvent
	for end := time.Now().Add(closurePatience); ; time.Sleep(200 * time.Millisecond) {
		if events, wrong = c.wrong(); wrong == "" {
			break
		} else if time.Now().After(end) {
			c.Errorf("in the end %s", wrong)
			break
		}
	}
	issued := make(map[string]int)
	misled := make(map[string]int)
	for _, e := range events {
		issued[e.closure()]++
		if e.Kind == "advisory_expired" || e.Kind == "became_stale" {
			misled[e.Kind]++
		}
	}
	for i := range c.closed {
		if id := closureOf(i).id; issued[id] != 1 {
			c.Errorf("%s is told %d times as issued", id, issued[id])
		}
	}
	if len(misled) > 0 {
		c.Logf("told wrongly and corrected: %v", misled)
	}
	limnomaptest.NoCrash(c, c.server.Log.String())
}

// wrong says what is not so by the log, or what is missing from it or from what readers got. It is empty if all is well.
func (c *closureTest) wrong() (events []toldEvent, wrong string) {
	c.Helper()
	events, oldest := c.events(c.T)
	if len(events) == 0 || oldest != 1 {
		return events, fmt.Sprintf("events were deleted: the oldest is %d of %d", oldest, len(events))
	}
	levels, statements := make(map[string]*int), make(map[string]string)
	for i, e := range events {
		if e.Seq != int64(i+1) {
			return events, fmt.Sprintf("event %d has the number %d", i+1, e.Seq)
		}
		if e.Advisory != nil {
			statements[e.Advisory.ID] = e.Kind
		} else {
			levels[e.LakeID] = e.After.Level
		}
	}
	for id, kind := range statements {
		if kind == "advisory_expired" || kind == "advisory_withdrawn" {
			return events, fmt.Sprintf("the log ends with %s of %s, which is in force", kind, id)
		}
	}
	var status struct {
		Lakes []struct {
			ID       string
			Level    *int `json:"who_level"`
			Advisory *struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(c.get(statusPath)), &status); err != nil {
		return events, "the server has no status"
	}
	for _, l := range status.Lakes {
		if last, ok := levels[l.ID]; !ok || l.Level == nil || last == nil || *last != *l.Level {
			return events, fmt.Sprintf("%s has the level %v, and by the log %v", l.ID, l.Level, last)
		}
		var i int
		_, _ = fmt.Sscanf(l.ID, "lake_%d", &i)
		if closed := i < c.closed || i == oldClosure; closed != (l.Advisory != nil) && strings.HasPrefix(l.ID, "lake_") {
			return events, fmt.Sprintf("that %s is closed is %v, want %v", l.ID, l.Advisory != nil, closed)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.IsSorted(c.order) {
		return events, fmt.Sprintf("the webhook got events in the order %v", c.order)
	}
	for _, e := range events {
		if !c.hooked[e.Seq] || !c.streamed[e.Seq] {
			return events, fmt.Sprintf("event %d was sent to the webhook: %v, by the stream: %v", e.Seq, c.hooked[e.Seq], c.streamed[e.Seq])
		}
	}
	return events, ""
}

// slowSource has the server download a satellite file that does not end, a little faster than what is ended, while closures are in a folder.
func slowSource(c *closureTest) {
	downloading := make(chan bool)
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return
		}
		select {
		case <-downloading:
		default:
			close(downloading)
		}
		for {
			if _, err := io.WriteString(w, strings.Repeat("x", 2<<10)); err != nil || http.NewResponseController(w).Flush() != nil || !wait(r.Context(), time.Second) {
				return
			}
		}
	}))
	c.Cleanup(source.Close)
	c.Cleanup(source.CloseClientConnections)
	in := c.TempDir()
	c.more = []string{"--refresh-from", in, "--refresh-from", source.URL + "/x_19990701.nc", "--refresh-every", "1s"}
	c.start()
	putFile(c, in, "lakes.csv", "id,name,lat,lon\nlake_0,Lake 0,48,0.5\n")
	<-downloading
	table := advisoryHeader
	for range 2 {
		of, began := c.next(), time.Now()
		table += strings.TrimPrefix(advisory(of, began, time.Time{}), advisoryHeader)
		putFile(c, in, "statements.csv", table)
		c.awaitKnown(of, ways, began, time.Time{})
	}
}
