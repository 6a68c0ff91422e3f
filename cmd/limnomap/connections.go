package main

import (
	"fmt"
	"log/slog"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api/connections"
)

// adminConnections is how many connections the admin listener may have: those of Prometheus, of load balancers that check the
// health, and of operators with pprof. An address may have all of them.
const adminConnections = 64

// connectionFlags bound the connections.
type connectionFlags struct {
	MaxConnections           int `help:"Connections that may be open at the same time; 0 derives it from the memory limit and the limit of open files. The server logs the number." default:"0" allowed:"0.." group:"Limits" reload:""`
	MaxConnectionsPerAddress int `help:"Connections of one address (IPv6: /64), except of --trusted-proxies; 0 is a quarter of all. A /48 of IPv6 may have eight times as many, up to half of all." default:"0" allowed:"0.." group:"Limits" reload:""`
}

// bounds returns the bounds that the flags and the machine decide.
func (f *connectionFlags) bounds(proxies []netip.Prefix, machine machineLimits) connections.Bounds {
	total := f.MaxConnections
	if total == 0 {
		total = connections.DefaultTotal(machine.memory, machine.files)
	}
	return connections.NewBounds(total, f.MaxConnectionsPerAddress, proxies)
}

// limiters bound the connections of the listeners.
type limiters struct {
	main, admin *connections.Limiter
	machine     machineLimits
}

// newLimiters returns the limiters of a server, and logs their bounds.
func (c *serveCmd) newLimiters(proxies []netip.Prefix, registry prometheus.Registerer, log *slog.Logger) *limiters {
	l := &limiters{machine: limitsOfMachine()}
	bounds := c.bounds(proxies, l.machine)
	l.main = connections.New(connections.Config{Bounds: bounds, Name: "public", Registerer: registry})
	l.log(bounds, log)
	if c.AdminListen != "" {
		l.admin = connections.New(connections.Config{
			Bounds:     connections.NewBounds(adminConnections, adminConnections, nil),
			Name:       "admin",
			Registerer: registry,
		})
	}
	return l
}

func (l *limiters) log(b connections.Bounds, log *slog.Logger) {
	log.Info("connection limits", "total", b.Total, "reserved", b.Reserved(), "per_address", b.PerAddress, "per_network", b.PerNetwork,
		"memory_bytes", l.machine.memory, "open_files", l.machine.files)
	if l.machine.files > 0 && uint64(b.Total) >= l.machine.files {
		log.Warn("--max-connections needs more open files than the process may have: raise the limit (ulimit -n, LimitNOFILE)",
			"max_connections", b.Total, "open_files", l.machine.files)
	}
}

// adjust applies changed flags.
func (l *limiters) adjust(f *connectionFlags, proxies []netip.Prefix) {
	l.main.Adjust(f.bounds(proxies, l.machine))
}

// checkConnections returns an error if the bounds contradict each other.
func (f *connectionFlags) checkConnections() error {
	if f.MaxConnections > 0 && f.MaxConnectionsPerAddress > f.MaxConnections {
		return fmt.Errorf("--max-connections-per-address %d: want at most the %d of --max-connections", f.MaxConnectionsPerAddress, f.MaxConnections)
	}
	return nil
}
