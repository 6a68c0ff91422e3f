//go:build unix

package faulttest

import (
	"context"
	"database/sql"
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

	"github.com/jackc/pgx/v5"
	"github.com/paulmach/orb"

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
	fmt.Fprintf(w, "fault\t%s\n", strings.Join(limnomaptest.Ways, "\t"))
	slices.Sort(table.faults)
	for _, fault := range table.faults {
		fmt.Fprint(w, fault)
		for _, way := range limnomaptest.Ways {
			fmt.Fprint(w, "\t", strings.Join(table.cells[fault][way], " "))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // into memory
	return b.String()
}

// A closureTest is a server with a database, an observer of each way, and what it learned when.
type closureTest struct {
	*testing.T
	*limnomaptest.Observer
	base           string // the address of the server, also after it was started again
	db, serverDB   string // of the commands and of the server
	command, serve func(args ...string) *exec.Cmd
	env            []string
	more           []string // flags of the server
	services       []string // push services besides that of the observer
	server         *limnomaptest.Server
	closed         int // how many lakes are closed
	crowd          int // subscriptions besides those of the observer's browsers
	cells          map[string][]string
}

func newClosureTest(t *testing.T) *closureTest {
	t.Helper()
	o, err := limnomaptest.NewObserver(limnomaptest.Binary(t), t.TempDir())
	must(t, err)
	t.Cleanup(o.Close)
	c := &closureTest{T: t, Observer: o, base: "http://" + limnomaptest.FreeAddress(t), env: o.Env(), cells: make(map[string][]string)}
	c.command = func(args ...string) *exec.Cmd { return limnomaptest.Command(t, args...) }
	c.serve = c.command
	c.useDatabase(filepath.Join(t.TempDir(), "lakes.db"))
	return c
}

func (c *closureTest) useDatabase(db string) { c.db, c.serverDB = db, db }

const (
	closureLakes = 8
	oldClosure   = closureLakes - 1 // the lake that was closed before
	browsers     = 5
)

// closureOf returns the closure of lake i.
func closureOf(i int) limnomaptest.ClosureChange {
	return limnomaptest.ClosureChange{ID: fmt.Sprint("closure-", i), Lake: fmt.Sprint("lake_", i), At: orb.Point{lonOf(i), 48}, Change: "issued"}
}

func lonOf(lake int) float64 { return 0.5 + 3*float64(lake) }

// start fills the database, starts the server, and lets the observer subscribe. One lake is closed already.
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
	c.put("advisories", limnomaptest.ClosureHeader+closureOf(oldClosure).Row(yesterday, yesterday.Add(30*24*time.Hour)))
	c.do("hooks", "create", "--db", c.db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--url", c.HookURL())
	c.launch()
	limnomaptest.Within(c, patience, "the log begins", func() bool { return strings.Contains(c.server.Log.String(), "log of events written") })
	must(c, c.Follow(c.Context(), c.base))
	must(c, c.SubscribeBrowsers(c.Context(), browsers, []string{"lake_0", "lake_1", "lake_2", "lake_3", "lake_4", "lake_7"}))
	c.observe(60)
	limnomaptest.Within(c, patience, "each lake has an event", func() bool {
		events, _ := c.events()
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

// launch starts the server at its address.
func (c *closureTest) launch() {
	c.Helper()
	c.server = c.launchAt(strings.TrimPrefix(c.base, "http://"), c.serve)
}

func (c *closureTest) launchAt(address string, serve func(args ...string) *exec.Cmd) *limnomaptest.Server {
	c.Helper()
	args := slices.Concat([]string{"--cache-disk", "0", "--db", c.serverDB, "--listen", address, "--api-rate", "0", "--tile-rate", "0"},
		c.Args(c.services...), c.more)
	s := limnomaptest.LaunchBy(c, func(args ...string) *exec.Cmd { return c.prepare(serve(args...)) }, args...)
	c.Cleanup(s.Kill)
	s.AwaitReady(c)
	return s
}

// next returns the closure of the next lake, which the observer looks for.
func (c *closureTest) next() limnomaptest.ClosureChange {
	of := closureOf(c.closed)
	c.closed++
	c.Expect(c.Context(), of)
	return of
}

// issue imports the closure of the next lake, and returns when it began.
func (c *closureTest) issue() (of limnomaptest.ClosureChange, began time.Time) {
	c.Helper()
	of, began = c.next(), time.Now()
	c.put("advisories", limnomaptest.ClosureHeader+of.Row(began, time.Time{}))
	return of, began
}

// awaitKnown waits until a closure is known on these ways, and notes the times since it was imported, or, where it was known after something
// ended that made it impossible, since that.
func (c *closureTest) awaitKnown(of limnomaptest.ClosureChange, ways []string, imported, ended time.Time) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), closurePatience)
	defer cancel()
	known, untold := c.Await(ctx, of, ways)
	for _, way := range ways {
		switch at := known[way]; {
		case at.IsZero():
			c.Errorf("%s is not told by %s within %v: %s", of.ID, way, closurePatience, untold[way])
			c.cells[way] = append(c.cells[way], fmt.Sprintf("never (%.0f s)", closurePatience.Seconds()))
		case !ended.IsZero() && at.After(ended):
			c.cells[way] = append(c.cells[way], fmt.Sprintf("+%.1f", at.Sub(ended).Seconds()))
		default:
			c.cells[way] = append(c.cells[way], fmt.Sprintf("%.1f", at.Sub(imported).Seconds()))
		}
	}
}

// check waits until the log says what is so, as long as readers get further events, and fails unless it has all events, each reader of the log has
// them, and each browser is still told.
func (c *closureTest) check() {
	c.Helper()
	var wrong string
	var events []limnomaptest.Event
	received := 0
	for end := time.Now().Add(closurePatience); ; time.Sleep(200 * time.Millisecond) {
		if events, wrong = c.wrong(); wrong == "" {
			break
		}
		got := c.Received()
		if n := len(got.Statements) + len(got.Others) + len(got.Streamed); n > received { // a busy machine goes on slowly
			received, end = n, time.Now().Add(closurePatience)
		} else if time.Now().After(end) {
			c.Errorf("in the end, after %d of %d events by webhook, %s", len(got.Statements)+len(got.Others), len(events), wrong)
			break
		}
	}
	issued := make(map[string]int)
	misled := make(map[string]int)
	for _, e := range events {
		if e.Kind == "advisory_issued" {
			issued[e.Advisory.ID]++
		}
		if e.Kind == "advisory_expired" || e.Kind == "became_stale" {
			misled[e.Kind]++
		}
	}
	for i := range c.closed {
		if id := closureOf(i).ID; issued[id] != 1 {
			c.Errorf("%s is told %d times as issued", id, issued[id])
		}
	}
	if n := c.subscriptions(); n != browsers+c.crowd {
		c.Errorf("there are %d subscriptions in the end, want %d", n, browsers+c.crowd)
	}
	if len(misled) > 0 {
		c.Logf("told wrongly and corrected: %v", misled)
	}
	limnomaptest.NoCrash(c, c.server.Log.String())
}

// subscriptions returns how many the database has.
func (c *closureTest) subscriptions() (n int) {
	c.Helper()
	const query = "SELECT count(*) FROM push_subscriptions"
	if !strings.HasPrefix(c.db, "postgres:") {
		db, err := sql.Open("sqlite", "file:"+c.db+"?_pragma=busy_timeout(10000)")
		must(c, err)
		defer db.Close()
		must(c, db.QueryRow(query).Scan(&n))
		return n
	}
	db, err := pgx.Connect(c.Context(), c.db)
	must(c, err)
	defer db.Close(c.Context())
	must(c, db.QueryRow(c.Context(), strings.Replace(query, "push", "limnomap.push", 1)).Scan(&n))
	return n
}

// wrong says what is not so by the log, or what is missing from it or from what readers got. It is empty if all is well.
func (c *closureTest) wrong() (events []limnomaptest.Event, wrong string) {
	c.Helper()
	events, oldest := c.events()
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
	limnomaptest.GetJSON(c, c.base+statusPath, &status)
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
	got := c.Received()
	if !slices.IsSorted(got.Statements) || !slices.IsSorted(got.Others) {
		return events, fmt.Sprintf("the webhook got statements in the order %v, and other events in the order %v", got.Statements, got.Others)
	}
	for _, e := range events {
		order := got.Others
		if e.Advisory != nil {
			order = got.Statements
		}
		if _, hooked := slices.BinarySearch(order, e.Seq); !hooked || !got.Streamed[e.Seq] {
			return events, fmt.Sprintf("event %d was sent to the webhook: %v, by the stream: %v", e.Seq, hooked, got.Streamed[e.Seq])
		}
	}
	return events, ""
}

// events returns the log of the server, and the number of its oldest event.
func (c *closureTest) events() (events []limnomaptest.Event, oldest int64) {
	c.Helper()
	for since := int64(0); ; {
		var page struct {
			Events               []limnomaptest.Event
			Next, Oldest, Newest int64
		}
		limnomaptest.GetJSON(c, fmt.Sprintf("%s/api/v1/events?since=%d&limit=1000", c.base, since), &page)
		if events = append(events, page.Events...); page.Next == page.Newest {
			return events, page.Oldest
		}
		since = page.Next
	}
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
			if _, err := io.WriteString(w, strings.Repeat("x", 2<<10)); err != nil || http.NewResponseController(w).Flush() != nil || !limnomaptest.Sleep(r.Context(), time.Second) {
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
	table := limnomaptest.ClosureHeader
	for range 2 {
		of, began := c.next(), time.Now()
		table += of.Row(began, time.Time{})
		putFile(c, in, "statements.csv", table)
		c.awaitKnown(of, limnomaptest.Ways, began, time.Time{})
	}
}
