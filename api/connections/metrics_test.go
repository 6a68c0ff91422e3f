package connections

import (
	"net"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestMetrics(t *testing.T) {
	w := newBench(Bounds{Total: 100, PerAddress: 3, PerNetwork: 3})
	var conns []net.Conn
	for range 3 {
		_, c := w.must(t, "198.51.100.1")
		conns = append(conns, c)
	}
	ask(conns[0])
	wait(conns[1])
	ask(conns[2])
	conns[2].Close()
	w.must(t, "198.51.100.1")
	const want = `
# HELP limnomap_connections Open connections: without a request yet (new), waiting for the next one (idle), being answered (active).
# TYPE limnomap_connections gauge
limnomap_connections{listener="test",state="active"} 1
limnomap_connections{listener="test",state="idle"} 1
limnomap_connections{listener="test",state="new"} 1
# HELP limnomap_connections_max How many connections may be open in total.
# TYPE limnomap_connections_max gauge
limnomap_connections_max{listener="test"} 100
`
	if err := testutil.GatherAndCompare(w.registry, strings.NewReader(want), "limnomap_connections", "limnomap_connections_max"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(w.registry); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}
