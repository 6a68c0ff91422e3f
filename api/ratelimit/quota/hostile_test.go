package quota

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"limnomap/api/ratelimit/quota/redistest"
)

// Whatever is stored at the key of a bucket, the bucket counts as full, and works again from the next lease on.
func TestForeignValues(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	for i, command := range [][]string{
		{"SET", "text"}, {"SET", ""}, {"SET", "nan"}, {"SET", "-nan"}, {"SET", "inf"}, {"SET", "-inf"}, {"SET", "1e300"}, {"SET", "-1"},
		{"SETRANGE", "20000000", "x"}, {"LPUSH", "a", "b"}, {"HSET", "a", "b"}, {"SADD", "a"}, {"XADD", "*", "a", "b"},
	} {
		client := fmt.Sprint("client", i)
		key := keyOf("api", client)
		server.Cli(t, append([]string{command[0], key}, command[1:]...)...)
		for lease, want := range []int{2, 1, 0} {
			granted, missing, err := r.Lease(t.Context(), "api", client, 3, 2)
			if lease < 2 && granted != want || err != nil || missing < 0 || missing > time.Minute { // the machine may take 20 s
				t.Errorf("%v: lease %d granted %d, %v missing, %v, want %d", command, lease, granted, missing, err, want)
			}
		}
	}
}

// While Redis refuses writes, a lease fails with an explanation. It works again when Redis does.
func TestServerRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		spoil, mend []string // arguments of redis-cli
		want        string
	}{
		"full":            {[]string{"CONFIG", "SET", "maxmemory", "1"}, []string{"CONFIG", "SET", "maxmemory", "0"}, "its memory is full; raise its maxmemory"},
		"a replica":       {[]string{"REPLICAOF", "127.0.0.1", "1"}, []string{"REPLICAOF", "NO", "ONE"}, "it is a replica; name the primary"},
		"a password":      {[]string{"CONFIG", "SET", "requirepass", "s3cret"}, []string{"-a", "s3cret", "CONFIG", "SET", "requirepass", ""}, "it wants a password"},
		"too few clients": {[]string{"CONFIG", "SET", "maxclients", "1"}, []string{"CONFIG", "SET", "maxclients", "1000"}, "max number of clients"},
		"no scripts":      {[]string{"ACL", "SETUSER", "default", "-eval", "-evalsha"}, []string{"ACL", "SETUSER", "default", "+@all"}, "the user may not do that"},
	} {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t, "--maxmemory-policy", "noeviction")
			r := open(t, "redis://"+server.Addr)
			lease := func() error {
				_, _, err := r.Lease(t.Context(), "api", "client", 6000, 1)
				return err
			}
			admin := keepConnected(t, server.Addr) // a connection of its own stays open with too few clients
			admin(test.spoil...)
			if err := lease(); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("lease: %v, want an error with %q", err, test.want)
			}
			if test.mend[0] == "-a" {
				admin("AUTH", test.mend[1])
				test.mend = test.mend[2:]
			}
			admin(test.mend...)
			var err error
			for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
				if err = lease(); err == nil {
					return
				}
			}
			t.Errorf("afterwards: %v", err)
		})
	}
}

// keepConnected returns a function that sends commands on a connection that stays open.
func keepConnected(t *testing.T, addr string) func(command ...string) {
	t.Helper()
	conn, err := redis.Dial("tcp", addr, redis.DialReadTimeout(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return func(command ...string) {
		t.Helper()
		var args []any
		for _, arg := range command[1:] {
			args = append(args, arg)
		}
		if _, err := conn.Do(command[0], args...); err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
}

// Scripts that are removed or killed cost one lease at most.
func TestScriptsRemoved(t *testing.T) {
	server := redistest.Start(t)
	r := open(t, "redis://"+server.Addr)
	for range 3 {
		if granted, _, err := r.Lease(t.Context(), "api", "client", 600, 1); granted != 1 || err != nil {
			t.Errorf("lease: %d, %v, want 1", granted, err)
		}
		server.Cli(t, "SCRIPT", "FLUSH")
	}
	admin := keepConnected(t, server.Addr)
	admin("CONFIG", "SET", "busy-reply-threshold", "1")
	loop, err := redis.Dial("tcp", server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer loop.Close()
	if err := loop.Send("EVAL", "while true do end", 0); err != nil || loop.Flush() != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		_, _, err := r.Lease(t.Context(), "api", "client", 600, 1)
		if err != nil && strings.Contains(err.Error(), "busy with another program's script") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a lease during an endless script: %v, want that Redis is busy", err)
		}
	}
	admin("SCRIPT", "KILL")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) { // Redis looks for the signal now and then
		granted, _, err := r.Lease(t.Context(), "api", "client", 600, 1)
		if granted == 1 && err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("after the script was killed: %d, %v, want 1", granted, err)
		}
	}
}

// Something that is not Redis answers. Each lease fails within its time, and takes little memory.
func TestForeignServer(t *testing.T) {
	for name, reply := range map[string]string{
		"a string of 9 GB":          "$9999999999\r\n",
		"an array of 9 billion":     "*9999999999\r\n",
		"an overflowing array":      "*99999999999999999999999999\r\n",
		"nested arrays":             strings.Repeat("*1\r\n", 1<<18),
		"nested big arrays":         strings.Repeat("*16\r\n", 1<<18),
		"an endless line":           strings.Repeat("x", 8<<20),
		"an endless error":          "-ERR " + strings.Repeat("x", 8<<20),
		"an endless error of lines": strings.Repeat("-ERR\r\n", 1<<20),
		"a page":                    "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
		"a huge lease":              "*2\r\n:9223372036854775807\r\n:0\r\n",
		"a negative lease":          "*2\r\n:-1\r\n:0\r\n",
		"a text":                    "+OK\r\n",
		"nothing":                   "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := serveReply(t, reply)
			r, err := openWithin("redis://"+addr, 200*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				_, _, err := r.Lease(ctx, "api", "client", 3, 1)
				cancel()
				if err == nil {
					t.Error("a lease was granted")
				} else if n := len(err.Error()); n > maxReply+200 {
					t.Errorf("the error has %d bytes", n)
				}
			}
		})
	}
}

// serveReply answers each connection with that reply, whatever it sends, first to each command of the login with OK.
func serveReply(t *testing.T, reply string) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	all := []byte(reply)
	var group sync.WaitGroup
	group.Go(func() { // ends when the listener is closed
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { // ends when the client closes the connection
				defer conn.Close()
				buf := make([]byte, 4096)
				for {
					n, err := conn.Read(buf)
					if err != nil {
						return
					}
					answer := all
					if bytes.Contains(buf[:n], []byte("SETNAME")) {
						answer = []byte("+OK\r\n")
					}
					if _, err := conn.Write(answer); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		group.Wait()
	})
	return listener.Addr().String()
}

// A reply is bounded however it is cut into pieces.
func TestForeignServerTakesLittleMemory(t *testing.T) {
	addr := serveReply(t, strings.Repeat("*16\r\n", 1<<20))
	r := open(t, "redis://"+addr)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		if _, _, err := r.Lease(t.Context(), "api", "client", 3, 1); err == nil {
			t.Error("a lease was granted")
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 { // 4 KiB of nested arrays are some 800 kB at most
		t.Errorf("20 leases allocated %d bytes", took)
	}
}

func FuzzReplies(f *testing.F) {
	for _, reply := range []string{"*2\r\n:1\r\n:5\r\n", "$5\r\nhello\r\n", "$-1\r\n", "*99999\r\n", "-ERR x\r\n", "*1\r\n*1\r\n:1\r\n"} {
		f.Add([]byte(reply), 3)
	}
	f.Fuzz(func(t *testing.T, reply []byte, piece int) {
		c := &boundedConn{left: maxReply}
		piece = max(piece, 1)
		ok := true
		for at := 0; at < len(reply) && ok; at += piece {
			ok = c.accepts(reply[at:min(at+piece, len(reply))])
		}
		if whole := (&boundedConn{left: maxReply}).accepts(reply); whole != ok {
			t.Fatalf("%q is accepted whole: %t, in pieces of %d: %t", reply, whole, piece, ok)
		}
		if !ok {
			return
		}
		for line := range strings.SplitSeq(string(reply), "\n") {
			var n int
			if _, err := fmt.Sscanf(line, "*%d", &n); err == nil && n > maxCount && line[1] != '+' {
				t.Fatalf("an array of %d was accepted", n)
			}
		}
	})
}
