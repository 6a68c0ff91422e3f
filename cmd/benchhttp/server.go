package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A server is one of the servers to compare.
type server struct {
	name   string
	base   string // address, without a slash at the end
	path   func(benchCase) string
	folder string // with the right answers
	// conditional reports whether the server answers conditional requests with 304.
	conditional bool
}

// generous is a rate limit that no run reaches, so that the limits are checked and refuse nothing.
const generous = "1000000000"

// startAll starts the servers, limnomap and the bare one first. They end with ctx, and then wait returns.
func startAll(ctx context.Context, folder string, s settings, stderr io.Writer) (servers []server, wait func(), err error) {
	p := &processes{stderr: stderr}
	wait = p.running.Wait
	ours, err := startLimnomap(ctx, p, s)
	if err != nil {
		return nil, wait, err
	}
	answers := filepath.Join(folder, "answers")
	if err := saveAnswers(ctx, ours, answers); err != nil {
		return nil, wait, err
	}
	ours.folder = answers
	bare, err := startBare(ctx, p, answers)
	if err != nil {
		return nil, wait, err
	}
	servers = []server{ours, bare}
	if _, err := exec.LookPath("nginx"); err != nil {
		fmt.Fprintln(stderr, "nginx is not installed: it is left out")
		return servers, wait, nil
	}
	nginx, err := startNginx(ctx, p, folder, answers)
	return append(servers, nginx), wait, err
}

// startLimnomap starts limnomap as operators run it: with limits, metrics and a log. It has no disk cache, since the measured
// answers come from memory.
func startLimnomap(ctx context.Context, p *processes, s settings) (server, error) {
	address, err := freeAddress()
	if err != nil {
		return server{}, err
	}
	ours := server{
		name:        "limnomap",
		base:        "http://" + address,
		path:        func(c benchCase) string { return c.path },
		conditional: true,
	}
	args := append([]string{"serve", "--listen", address, "--cache-disk", "0", "--drain", "0s",
		"--api-rate", generous, "--tile-rate", generous}, s.serve...)
	return ours, p.start(ctx, ours.base+"/readyz", s.limnomap, args...)
}

// saveAnswers writes the answers of limnomap into the folder, so that the other servers return the same.
func saveAnswers(ctx context.Context, ours server, folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	for _, c := range cases() {
		if c.fresh {
			continue
		}
		resp, content, err := fetch(ctx, ours.base+c.path, c.header())
		if err != nil {
			return err
		}
		if got := resp.Header.Get("Content-Encoding") == "gzip"; got != c.gzip {
			return fmt.Errorf("%s: answered with gzip: %t, want %t", c.name, got, c.gzip)
		}
		if err := os.WriteFile(filepath.Join(folder, c.stored()), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func startBare(ctx context.Context, p *processes, folder string) (server, error) {
	address, err := freeAddress()
	if err != nil {
		return server{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return server{}, err
	}
	bare := server{
		name:   "bare net/http",
		base:   "http://" + address,
		path:   func(c benchCase) string { return "/" + c.stored() },
		folder: folder,
	}
	return bare, p.start(ctx, bare.base+"/tile.png", program, bareCommand, address, folder)
}

// nginxConfig serves the folder from the page cache with sendfile, and logs only errors.
const nginxConfig = `daemon off;
worker_processes auto;
pid %[1]s/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
	access_log off;
	sendfile on;
	tcp_nopush on;
	gzip_static on;
	open_file_cache max=100;
	keepalive_requests 1000000000;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	types { image/png png; application/json json geojson; }
	server { listen %[2]s; root %[3]s; }
}
`

func startNginx(ctx context.Context, p *processes, folder, answers string) (server, error) {
	address, err := freeAddress()
	if err != nil {
		return server{}, err
	}
	config := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, folder, address, answers), 0o644); err != nil {
		return server{}, err
	}
	// If root starts nginx, its workers run as another user.
	if err := os.Chmod(folder, 0o755); err != nil {
		return server{}, err
	}
	nginx := server{
		name:        "nginx",
		base:        "http://" + address,
		path:        func(c benchCase) string { return "/" + c.file },
		folder:      answers,
		conditional: true,
	}
	return nginx, p.start(ctx, nginx.base+"/tile.png", "nginx", "-e", "stderr", "-p", folder, "-c", config)
}

// request returns the request for wrk, after checking that the answer of the server is right.
func (s server) request(ctx context.Context, c benchCase) (request, error) {
	url, header := s.base+s.path(c), c.header()
	resp, content, err := fetch(ctx, url, header)
	if err != nil {
		return request{}, err
	}
	want, err := os.ReadFile(filepath.Join(s.folder, c.stored()))
	if err != nil {
		return request{}, err
	}
	if !bytes.Equal(content, want) {
		return request{}, fmt.Errorf("GET %s: %d bytes that are not the %d of %s", url, len(content), len(want), c.stored())
	}
	if c.fresh && s.conditional {
		header.Set("If-None-Match", resp.Header.Get("ETag"))
		if resp, _, err = fetch(ctx, url, header); err != nil {
			return request{}, err
		}
		if resp.StatusCode != http.StatusNotModified {
			return request{}, fmt.Errorf("GET %s with its ETag: %s, want 304", url, resp.Status)
		}
	}
	return request{url, header}, nil
}

// fetch returns an answer with its complete body, not decompressed. A status other than 200 and 304 is an error.
func fetch(ctx context.Context, url string, header http.Header) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	r.Header = header.Clone()
	// A new connection, so that no idle one is open during other measurements, and without decompression.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	resp, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, 1<<30))
	if err == nil && resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotModified {
		err = fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return resp, content, err
}

// freeAddress returns a loopback address that no process listens on. If another process takes it before it is used, the
// server fails to start.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// processes are the started programs.
type processes struct {
	stderr  io.Writer
	running sync.WaitGroup
}

// startTimeout is how long a server may take to answer for the first time.
const startTimeout = 30 * time.Second

// start starts a program that ends with ctx, and returns once it answers at that address.
func (p *processes) start(ctx context.Context, address, name string, args ...string) error {
	var log bytes.Buffer // stderr; read when the process has ended
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = &log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	ended := make(chan error, 1)
	p.running.Go(func() { ended <- cmd.Wait() }) // ends with the process
	for deadline := time.Now().Add(startTimeout); ; {
		if _, _, err := fetch(ctx, address, nil); err == nil {
			return nil
		} else if time.Now().After(deadline) {
			return fmt.Errorf("%s does not answer within %v: %w", name, startTimeout, err)
		}
		select {
		case err := <-ended:
			return fmt.Errorf("%s ended: %w\n%s", name, err, &log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
