package deploy

import (
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// startNginx starts nginx with a configuration, and waits until it listens at an address.
func startNginx(t testing.TB, dir, conf, address string) {
	t.Helper()
	path := limnomaptest.WriteFile(t, dir, "nginx.conf", conf)
	if out := output(t, "nginx", "-t", "-p", dir, "-c", path); strings.Contains(out, "[warn]") {
		t.Errorf("nginx -t:\n%s", out)
	}
	runProxy(t, exec.Command("nginx", "-p", dir, "-c", path, "-g", "daemon off;"), func() error {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// http2Client returns a client that accepts any certificate, speaks HTTP/2 if the server does, and follows no redirect.
func http2Client(t testing.TB) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// The site of nginx leads from HTTP to HTTPS, speaks HTTP/2, keeps tiles, and without a server answers 503 with Retry-After.
func TestNginxSite(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "nginx")
	address := limnomaptest.FreeAddress(t)
	server := limnomaptest.Start(t, "--listen", address, "--trusted-proxies", "127.0.0.1/32")
	dir, plain, secure := commonDir(t), limnomaptest.FreeAddress(t), limnomaptest.FreeAddress(t)
	cert, key := limnomaptest.Certificate(t)
	site := replaced(t, "nginx-site.conf", "listen 80;", "listen "+plain+";", "listen [::]:80;", "", "listen 443 ssl http2;", "listen "+secure+" ssl http2;",
		"listen [::]:443 ssl http2;", "", "server 127.0.0.1:8080 ", "server "+address+" ", "/var/cache/limnomap-tiles", dir+"/cache",
		"/etc/letsencrypt/live/lakes.example.org/fullchain.pem", cert, "/etc/letsencrypt/live/lakes.example.org/privkey.pem", key)
	startNginx(t, dir, "pid "+dir+"/pid; error_log stderr warn; events {} http {\n"+site+"}\n", secure)
	client := http2Client(t)
	get := func(url string) *http.Response {
		t.Helper()
		resp, err := client.Get(url)
		must(t, err)
		resp.Body.Close()
		return resp
	}
	if resp := get("http://" + plain + "/api/v1/styles?x=1"); resp.StatusCode != http.StatusPermanentRedirect || !strings.HasPrefix(resp.Header.Get("Location"), "https://") ||
		!strings.HasSuffix(resp.Header.Get("Location"), "/api/v1/styles?x=1") {
		t.Errorf("HTTP: %s to %q, want 308 to HTTPS", resp.Status, resp.Header.Get("Location"))
	}
	for _, want := range []string{"MISS", "HIT"} {
		resp := get("https://" + secure + berlin + ".png")
		if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || resp.Header.Get("X-Cache-Status") != want || resp.Header.Get("Strict-Transport-Security") == "" {
			t.Errorf("a tile: %s by %s, cache %q, HSTS %q, want %s by HTTP/2", resp.Status, resp.Proto, resp.Header.Get("X-Cache-Status"), resp.Header.Get("Strict-Transport-Security"), want)
		}
	}
	if resp := get("https://" + secure + "/api/v1/bathing-lakes/status"); resp.StatusCode != http.StatusOK || resp.Header.Get("X-Cache-Status") != "" || resp.Header.Get("ETag") == "" {
		t.Errorf("status: %s, cache %q", resp.Status, resp.Header.Get("X-Cache-Status"))
	}
	server.Kill()
	for _, path := range []string{"/api/v1/bathing-lakes/status", "/api/v1/tiles/7/1/1.png", "/api/v1/events/stream"} {
		if resp := get("https://" + secure + path); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s without a server: %s, Retry-After %q, want 503 with it", path, resp.Status, resp.Header.Get("Retry-After"))
		}
	}
}

// With a certificate in its folder, the nginx of compose.replicated.yaml speaks HTTPS and HTTP/2.
func TestComposedHTTPS(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "nginx")
	backend := limnomaptest.Shared(t)
	dir, plain, secure := commonDir(t), limnomaptest.FreeAddress(t), limnomaptest.FreeAddress(t)
	cert, key := limnomaptest.Certificate(t)
	// Debian's nginx has the older form.
	https := replaced(t, "tls/https.conf.example", "listen 443 ssl;\nhttp2 on;", "listen "+secure+" ssl http2;", "/etc/nginx/tls/fullchain.pem", cert, "/etc/nginx/tls/privkey.pem", key)
	limnomaptest.WriteFile(t, dir, "https.conf", https)
	startNginx(t, dir, replaced(t, "nginx.conf", "/tmp/", dir+"/", "listen 80;", "listen "+plain+";", "include /etc/nginx/tls/*.conf;", "include "+dir+"/https.conf;",
		"limnomap-1:8080", backend.HostPort(), "limnomap-2:8080", backend.HostPort()), secure)
	for url, proto := range map[string]int{"http://" + plain: 1, "https://" + secure: 2} {
		resp, err := http2Client(t).Get(url + berlin + ".png")
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.ProtoMajor != proto {
			t.Errorf("%s: %s by %s", url, resp.Status, resp.Proto)
		}
	}
}

// The standby of compose.replicated.yaml copies a primary into an empty folder, and follows it; the script of the primary lets it.
func TestComposedStandby(t *testing.T) {
	t.Parallel()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		limnomaptest.Need(t, "initdb")
	}
	dir := commonDir(t)
	primary := filepath.Join(dir, "primary")
	script := func(args ...string) string {
		t.Helper()
		out, err := os.CreateTemp(t.TempDir(), "postgres") // no pipe: the server would keep it open
		must(t, err)
		defer out.Close()
		cmd := exec.Command("../.ci/postgres", args...)
		cmd.Stdout, cmd.Stderr = out, os.Stderr
		must(t, cmd.Run())
		text, err := os.ReadFile(out.Name())
		must(t, err)
		return strings.TrimSpace(string(text))
	}
	t.Cleanup(func() { script("remove", primary) })
	url := script("start", primary)
	password := readFile(t, filepath.Join(primary, "password"))
	port := strings.TrimSpace(readFile(t, filepath.Join(primary, "port")))
	// The primary's script adds one line to its pg_hba.conf, which PostgreSQL understands.
	runScript := func(env []string, name string, args ...string) *exec.Cmd {
		t.Helper()
		command := append([]string{"sh", name}, args...)
		if os.Getuid() == 0 {
			command = append([]string{"runuser", "-u", "postgres", "--"}, command...)
		}
		copied := limnomaptest.WriteFile(t, dir, filepath.Base(name), readFile(t, name))
		command[len(command)-len(args)-1] = copied
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), append(env, "PATH="+found[len(found)-1]+":"+os.Getenv("PATH"))...)
		return cmd
	}
	if out, err := runScript([]string{"POSTGRES_USER=limnomap", "PGDATA=" + primary + "/data"}, "postgres-primary.sh").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	query := func(url, query string) string {
		out, err := exec.Command("psql", url, "-XAtc", query).Output()
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(string(out))
	}
	if got := query(url, "SELECT count(*) FROM pg_hba_file_rules WHERE error IS NULL AND database = '{replication}' AND user_name = '{limnomap}' AND address = 'samenet'"); got != "1" {
		t.Errorf("%s lines of pg_hba.conf let in the standby, want 1", got)
	}
	standby := filepath.Join(dir, "standby")
	address := limnomaptest.FreeAddress(t)
	_, own, _ := net.SplitHostPort(address)
	must(t, os.Mkdir(standby, 0o777))
	if err := os.Chmod(standby, 0o1777); err != nil { // as a new volume
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		output(t, "chown", "postgres:", standby)
	}
	cmd := runScript([]string{"PGPASSWORD=" + strings.TrimSpace(password), "PRIMARY=127.0.0.1", "PRIMARY_PORT=" + port, "PGDATA=" + standby},
		"postgres-standby.sh", "-c", "port="+own, "-c", "unix_socket_directories=")
	url = strings.Replace(url, ":"+port+"/", ":"+own+"/", 1)
	runProxy(t, cmd, func() error {
		_, err := exec.Command("psql", url, "-XAtc", "SELECT 1").Output()
		return err
	})
	t.Cleanup(func() { // before runProxy waits for runuser, which passes no signal on
		pid, _, _ := strings.Cut(readFile(t, filepath.Join(standby, "postmaster.pid")), "\n")
		if n, err := strconv.Atoi(pid); err != nil {
			t.Error(err)
		} else if p, err := os.FindProcess(n); err == nil {
			_ = p.Signal(os.Interrupt)
		}
	})
	limnomaptest.Within(t, patience, "the standby follows", func() bool {
		return query(url, "SELECT pg_is_in_recovery() AND EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')") == "t"
	})
}
