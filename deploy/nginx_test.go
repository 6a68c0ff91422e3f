package deploy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// commonDir returns a folder that other users can read, since the workers of nginx do not run as root.
func commonDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "limnomap-deploy-")
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// replaced returns a file of this folder with texts replaced. Each old text must be in it. Pairs are old and new in turn.
func replaced(t testing.TB, name string, pairs ...string) string {
	t.Helper()
	text := readFile(t, name)
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%s does not have %q", name, pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// runProxy starts a proxy and waits until it is ready. The proxy is stopped when the test ends.
func runProxy(t testing.TB, cmd *exec.Cmd, ready func() error) {
	t.Helper()
	log := new(limnomaptest.Log)
	cmd.Stderr = log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s says:\n%s", cmd.Path, log)
		}
	})
	limnomaptest.Within(t, patience, cmd.Path+" is ready", func() bool { return ready() == nil })
}

// A cachingNginx is nginx with nginx-cache.conf, in which only addresses and folders are replaced. The test controls its
// clock.
type cachingNginx struct {
	base  string
	clock string // file of libfaketime
}

func startCachingNginx(t testing.TB, upstream string) *cachingNginx {
	t.Helper()
	limnomaptest.Need(t, "nginx", "faketime")
	fake, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(fake) != 1 {
		t.Fatalf("faketime is installed, and its libraries are %q", fake)
	}
	dir, address := commonDir(t), limnomaptest.FreeAddress(t)
	n := &cachingNginx{base: "http://" + address, clock: filepath.Join(dir, "clock")}
	n.later(t, 0)
	conf := replaced(t, "nginx-cache.conf", "listen 80;", "listen "+address+";", "server 127.0.0.1:8080 ", "server "+upstream+" ",
		"/run/nginx.pid", dir+"/pid", "/var/cache/limnomap-tiles", dir+"/cache")
	path := limnomaptest.WriteFile(t, dir, "nginx.conf", conf)
	if out := output(t, "nginx", "-t", "-p", dir, "-c", path); strings.Contains(out, "[warn]") {
		t.Errorf("nginx -t:\n%s", out)
	}
	// Workers of nginx only have the environment variables that the configuration names.
	env := []string{"FAKETIME_TIMESTAMP_FILE=" + n.clock, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
	keep := "daemon off;"
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		keep += " env " + name + ";"
	}
	cmd := exec.Command("nginx", "-p", dir, "-c", path, "-g", keep)
	cmd.Env = append(os.Environ(), append(env, "LD_PRELOAD="+fake[0])...)
	runProxy(t, cmd, func() error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	return n
}

// later sets the clock of nginx forward.
func (n *cachingNginx) later(t testing.TB, d time.Duration) {
	t.Helper()
	next := n.clock + ".next"
	must(t, os.WriteFile(next, fmt.Appendf(nil, "+%d\n", int(d.Seconds())), 0o644))
	must(t, os.Rename(next, n.clock))
}

// want requests a path and fails the test unless the answer has the given status and cache state: HIT, MISS and so on, or
// empty if nginx does not use the cache.
func (n *cachingNginx) want(t testing.TB, path string, status int, cache string, header ...string) (*http.Response, []byte) {
	t.Helper()
	resp, body := limnomaptest.Get(t, n.base+path, header...)
	if got := resp.Header.Get("X-Cache-Status"); resp.StatusCode != status || got != cache {
		t.Errorf("GET %s %q: %s, cache %q, want %d, cache %q\n%.300s", path, header, resp.Status, got, status, cache, body)
	}
	return resp, body
}

// becomes repeats a request until the answer has the given cache state.
func (n *cachingNginx) becomes(t testing.TB, path, cache string) {
	t.Helper()
	limnomaptest.Within(t, patience, path+" is a "+cache, func() bool {
		resp, _ := limnomaptest.Get(t, n.base+path)
		return resp.StatusCode == http.StatusOK && resp.Header.Get("X-Cache-Status") == cache
	})
}

// Through both configurations, subscriptions reach limnomap as a whole, other bodies do not, and events come as they happen.
func TestNginxSubscriptionsAndStreams(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "nginx")
	for _, name := range []string{"nginx.conf", "nginx-cache.conf"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			send := make(chan string, 3)
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/v1/events/stream" {
					n, err := io.Copy(io.Discard, r.Body)
					fmt.Fprintf(w, "%s %d %v", r.Header.Get("X-Forwarded-For"), n, err)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				for {
					select {
					case event := <-send:
						_, _ = io.WriteString(w, event)
						_ = http.NewResponseController(w).Flush() // an error means that the client left
					case <-r.Context().Done():
						return
					}
				}
			}))
			defer upstream.Close()
			dir, address, upstreamAddress := commonDir(t), limnomaptest.FreeAddress(t), strings.TrimPrefix(upstream.URL, "http://")
			pairs := []string{"limnomap-1:8080", upstreamAddress, "limnomap-2:8080", upstreamAddress, "/tmp/", dir + "/"}
			if name == "nginx-cache.conf" {
				pairs = []string{"server 127.0.0.1:8080 ", "server " + upstreamAddress + " ", "/run/nginx.pid", dir + "/pid", "/var/cache/limnomap-tiles", dir + "/cache"}
			}
			conf := replaced(t, name, append(pairs, "listen 80;", "listen "+address+";")...)
			path := limnomaptest.WriteFile(t, dir, "nginx.conf", conf)
			if out := output(t, "nginx", "-t", "-e", "stderr", "-p", dir, "-c", path); strings.Contains(out, "[warn]") {
				t.Errorf("nginx -t:\n%s", out)
			}
			runProxy(t, exec.Command("nginx", "-e", "stderr", "-p", dir, "-c", path, "-g", "daemon off;"), func() error {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					return err
				}
				return conn.Close()
			})

			client := &http.Client{Timeout: patience}
			for _, tt := range []struct {
				path   string
				bytes  int
				status int
			}{
				{"/api/v1/push/subscriptions", 10 << 10, http.StatusOK},
				{"/api/v1/push/subscriptions", 16 << 10, http.StatusOK},
				{"/api/v1/push/subscriptions", 17 << 10, http.StatusRequestEntityTooLarge},
				{"/api/v1/bathing-lakes/status", 10 << 10, http.StatusRequestEntityTooLarge},
				{"/api/v1/events/stream", 10 << 10, http.StatusRequestEntityTooLarge},
			} {
				resp, err := client.Post("http://"+address+tt.path, "application/json", strings.NewReader(strings.Repeat("x", tt.bytes)))
				must(t, err)
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if want := fmt.Sprintf("127.0.0.1 %d <nil>", tt.bytes); err != nil || resp.StatusCode != tt.status || tt.status == http.StatusOK && string(body) != want {
					t.Errorf("%d bytes to %s: %s %.300s, %v, want %d", tt.bytes, tt.path, resp.Status, body, err, tt.status)
				}
			}

			send <- "first\n"
			resp, err := client.Get("http://" + address + "/api/v1/events/stream")
			must(t, err)
			defer resp.Body.Close() // which ends the stream
			if cache := resp.Header.Get("X-Cache-Status"); cache != "" {
				t.Errorf("a stream from the cache: %s", cache)
			}
			lines := bufio.NewReader(resp.Body)
			for _, want := range []string{"first\n", "second\n", "third\n"} { // each before the next is sent
				if want != "first\n" {
					send <- want
				}
				if got, err := lines.ReadString('\n'); err != nil || got != want {
					t.Errorf("the stream has %q, %v, want %q", got, err, want)
				}
			}
			// A silent server counts as down after 15 seconds, a silent stream does not.
			_, stream, _ := strings.Cut(conf, "location = /api/v1/events/stream {")
			stream, _, _ = strings.Cut(stream, "}")
			for _, want := range []string{"proxy_read_timeout 60s;", "proxy_buffering off;"} {
				if !strings.Contains(stream, want) {
					t.Errorf("the location of the stream lacks %q:\n%s", want, stream)
				}
			}
		})
	}
}

const berlin = "/api/v1/tiles/6/34/21" // a tile with lakes of the demo

// otherWeek returns the date of a week that is not the newest.
func otherWeek(t testing.TB, base string) string {
	t.Helper()
	var dates struct{ Weeks []struct{ Date string } }
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/dates", &dates)
	if len(dates.Weeks) < 3 {
		t.Fatalf("weeks %v", dates.Weeks)
	}
	return dates.Weeks[len(dates.Weeks)/2].Date
}
