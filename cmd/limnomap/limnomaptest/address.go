package limnomaptest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddress returns a loopback address that no process listens on. Its port is below the range of outgoing
// connections on Linux (ip_local_port_range), of which another test may have thousands.
func FreeAddress(t testing.TB) string {
	t.Helper()
	const first, end = 10_240, 32_768
	for range 1000 {
		port := first + rand.IntN(end-first)
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			continue // it is in use
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("127.0.0.1:%d", port)
	}
	t.Fatal("found no free port")
	return ""
}
