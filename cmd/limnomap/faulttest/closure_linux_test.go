//go:build long

package faulttest

import (
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/events/push/pushtest"
	"limnomap/data/store/wiretest"
)

// shownWays show the data, and toldWays the log of events.
var (
	shownWays = []string{limnomaptest.WayPage, limnomaptest.WayStatus, limnomaptest.WayTile, limnomaptest.WayVector}
	toldWays  = []string{limnomaptest.WayFeed, limnomaptest.WayStream, limnomaptest.WayWebhook, limnomaptest.WayPush}
)

// longClosureFaults are the rows that make test has not.
func longClosureFaults() []closureFault {
	return append([]closureFault{
		{"none", func(c *closureTest) { c.start(); c.close() }},
		{"kill", killed},
		{"1,000 hanging endpoints", hangingEndpoints},
		{"an import of everything", importOfEverything},
		{"PostgreSQL lost", postgresLost},
		{"full disk", func(c *closureTest) {
			disk := c.TempDir()
			mountSmallDisk(c.T, disk, "96m") // an import leaves 64 MiB free
			c.useDatabase(filepath.Join(disk, "lakes.db"))
			c.fullDisk(disk)
		}},
		{"full disk, PostgreSQL", func(c *closureTest) {
			disk, dsn := newFullableDatabase(c.T)
			c.useDatabase(dsn)
			c.fullDisk(disk)
		}},
	}, clockFaults()...)
}

// close imports a closure and waits until it is known on each way.
func (c *closureTest) close() {
	c.Helper()
	of, began := c.issue()
	c.awaitKnown(of, limnomaptest.Ways, began, time.Time{})
}

// killed kills the server right after the import of a closure.
func killed(c *closureTest) {
	c.start()
	of, began := c.issue()
	c.server.Kill()
	c.launch()
	c.awaitKnown(of, limnomaptest.Ways, began, time.Time{})
	c.close()
}

// hangingEndpoints has 1,000 subscriptions from four networks, whose endpoints at four push services accept messages and never answer. The first
// closure is the first message to them, the second comes beside what is tried again, and before the third they answer.
func hangingEndpoints(c *closureTest) {
	const services, each = 4, 250
	answer := make(chan bool)
	var hung []string
	for range services {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-answer:
				w.WriteHeader(http.StatusCreated)
			case <-r.Context().Done():
			}
		}))
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // the server ends connections while they begin
		s.StartTLS()
		c.Cleanup(s.Close)
		c.Cleanup(s.CloseClientConnections)
		hung = append(hung, s.URL)
	}
	c.services = append(c.services, hung...)
	c.start()
	for i := range services {
		c.subscribeCrowd(i, each, hung[i], func(int) []string { return []string{"lake_0", "lake_1", "lake_2"} })
	}
	c.close()
	c.close()
	close(answer)
	c.close()
}

// subscribeCrowd makes n subscriptions from a network, to endpoints below a URL of a push service. No message to them is read.
func (c *closureTest) subscribeCrowd(network, n int, endpoints string, lakes func(i int) []string) {
	c.Helper()
	client, browser := clientAt(fmt.Sprintf("127.0.%d.1", network+1)), pushtest.NewBrowser(c)
	client.Transport.(*http.Transport).DisableKeepAlives = false
	defer client.CloseIdleConnections()
	c.crowd += n
	for i := range n {
		must(c, c.Subscribe(client, fmt.Sprint(endpoints, "/", i), browser, lakes(i)))
	}
}

// importOfEverything imports another level for 1,500 lakes, of which each of 3,000 subscriptions wants 100, and a closure beside it.
func importOfEverything(c *closureTest) {
	const lakes, networks, each = 1500, 3, 1000
	var table strings.Builder
	table.WriteString("id,name,lat,lon\n")
	id := func(i int) string { return fmt.Sprintf("bulk_%05d", i) }
	for i := range lakes {
		fmt.Fprintf(&table, "%s,Bulk %d,%g,%g\n", id(i), i, -60+0.5*float64(i%100), -170+0.5*float64(i/100))
	}
	observations := func(chl int) string {
		var rows strings.Builder
		rows.WriteString("lake_id,date,chl,data_type\n")
		for i := range lakes {
			fmt.Fprintf(&rows, "%s,%s,%d,satellite\n", id(i), time.Now().UTC().Format(time.DateOnly), chl)
		}
		return rows.String()
	}
	c.put("lakes", table.String())
	c.put("observations", observations(5))
	c.start()
	for network := range networks {
		c.subscribeCrowd(network, each, fmt.Sprint(c.ServiceURL(), "/crowd/", network), func(i int) (wanted []string) {
			for j := range 100 {
				wanted = append(wanted, id((7*i+j)%lakes))
			}
			return wanted
		})
	}
	everything := c.prepare(c.command("import", "observations", limnomaptest.WriteFile(c, c.TempDir(), "all.csv", observations(60)), "--db", c.db, "--force"))
	must(c, everything.Start())
	c.close()
	must(c, everything.Wait())
	c.close()
}

// postgresLost hangs the connections of the server to its PostgreSQL while a closure is imported, and kills PostgreSQL before another one.
func postgresLost(c *closureTest) {
	p := startPostgres(c)
	u, err := url.Parse(p.url)
	must(c, err)
	w := wiretest.New(c, u.Host)
	c.db = p.url
	u.Host = w.Address
	c.serverDB = u.String()
	c.start()
	w.Hang(true)
	of, imported := c.issue()
	time.Sleep(10 * time.Second) // what the server does then, it does against a wall
	w.Hang(false)
	c.awaitKnown(of, limnomaptest.Ways, imported, time.Now())
	p.kill(c)
	time.Sleep(3 * time.Second)
	p.start(c)
	c.close()
}

// fullDisk fills the disk between the import of a closure and the moment when the server learns of it: it shows the closure, and tells it when there is
// space again at the latest.
func (c *closureTest) fullDisk(disk string) {
	c.start()
	c.stopServer()
	of, imported := c.issue()
	fill(c.T, disk)
	must(c, c.server.Process.Signal(syscall.SIGCONT))
	c.awaitKnown(of, shownWays, imported, time.Time{})
	must(c, os.Remove(filepath.Join(disk, filler)))
	c.awaitKnown(of, toldWays, imported, time.Now())
	c.close()
}

// stopServer stops the server while it does not write: the lock of a writer that is stopped would keep others out.
func (c *closureTest) stopServer() {
	c.Helper()
	locked := func() error { return nil } // PostgreSQL locks rows only
	if !strings.HasPrefix(c.db, "postgres:") {
		open, err := sql.Open("sqlite", "file:"+c.db+"?_pragma=busy_timeout(0)&_txlock=immediate")
		must(c, err)
		defer open.Close()
		locked = func() error {
			tx, err := open.BeginTx(c.Context(), nil)
			if err == nil {
				err = tx.Rollback()
			}
			return err
		}
	}
	for {
		must(c, c.server.Process.Signal(syscall.SIGSTOP))
		err := locked()
		if err == nil {
			return
		}
		c.Logf("the server was stopped while it wrote: %v", err)
		must(c, c.server.Process.Signal(syscall.SIGCONT))
		time.Sleep(100 * time.Millisecond)
	}
}
