package deploy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"limnomap/api/ratelimit/quota/redistest"
	"limnomap/cmd/limnomap/limnomaptest"
)

// mark is in each secret of these tests, and nowhere else.
const mark = "hunter2"

// leak fails the test if text contains a secret.
func leak(t *testing.T, where, text string, secrets ...string) {
	t.Helper()
	for _, secret := range append(secrets, mark) {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("%s shows a secret: ...%s...", where, text[max(0, i-200):min(len(text), i+len(secret)+50)])
		}
	}
}

// The error message about a wrong setting never contains a secret.
func TestCommandsKeepSecrets(t *testing.T) {
	t.Parallel()
	limnomaptest.Binary(t)
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\na,Ammersee,48,11.1\n"), "--db", db)
	redirect := httptest.NewServer(http.RedirectHandler("https://u:"+mark+"@127.0.0.1:1/lakes.csv?token="+mark, http.StatusFound))
	defer redirect.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, r.Header.Get("Authorization")+r.URL.String(), http.StatusUnauthorized)
	}))
	defer refusing.Close()
	at := func(s *httptest.Server) string { return strings.Replace(s.URL, "://", "://u:"+mark+"@", 1) }
	list := []string{"keys", "list"}
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "debug"}
	refresh := func(from string) []string {
		return []string{"refresh", "--db", db, "--from", from, "--log-level", "debug"}
	}
	tests := []struct {
		name string
		env  string
		args []string
	}{
		{"database away", "LIMNOMAP_DB=postgres://u:" + mark + "@127.0.0.1:1/x", list},
		{"database's port", "LIMNOMAP_DB=postgres://u:" + mark + "@127.0.0.1:99999/x", list},
		{"database's escape", "LIMNOMAP_DB=postgres://u:" + mark + "%zz@127.0.0.1/x", list},
		{"database's unescaped password", "LIMNOMAP_DB=postgres://u:" + mark + "/p@ss#w?x@127.0.0.1/x", list},
		{"database's parameter", "LIMNOMAP_DB=postgres://u:" + mark + "@127.0.0.1/x?sslmode=" + mark, list},
		{"database's kind", "LIMNOMAP_DB=mysql://u:" + mark + "@127.0.0.1/x", list},
		{"database's keywords", "LIMNOMAP_DB=host=127.0.0.1 password=" + mark, list},
		{"database without its flag", "A=", append(serve, "postgres://u:"+mark+"@127.0.0.1/x")},
		{"database at another flag", "A=", append(serve, "--listen=postgres://u:"+mark+"@127.0.0.1/x")},
		{"number", "LIMNOMAP_API_RATE=postgres://u:" + mark + "@127.0.0.1/x", serve},
		{"Redis's kind", "LIMNOMAP_REDIS=http://u:" + mark + "@127.0.0.1/x", serve},
		{"Redis's escape", "LIMNOMAP_REDIS=redis://u:" + mark + "%zz@127.0.0.1", serve},
		{"Redis's database", "LIMNOMAP_REDIS=redis://u:" + mark + "@127.0.0.1/" + mark, serve},
		{"Redis's parameter", "LIMNOMAP_REDIS=redis://127.0.0.1/0?password=" + mark, serve},
		{"Redis without a scheme", "LIMNOMAP_REDIS=u:" + mark + "@127.0.0.1", serve},
		{"public URL", "LIMNOMAP_PUBLIC_URL=https://u:" + mark + "@example.org", serve},
		{"basemap", "LIMNOMAP_BASEMAP_URL=https://u:" + mark + "@example.org/{z}/{x}/{y}.png", serve},
		{"mistyped scheme", "LIMNOMAP_DB=postgre:/u:" + mark + "@127.0.0.1/x", list},
		{"scheme without a colon", "LIMNOMAP_DB=postgres//u:" + mark + "@127.0.0.1/x", list},
		{"scheme without slashes", "LIMNOMAP_DB=postgresql:u:" + mark + "@127.0.0.1", list},
		{"scheme in capitals", "LIMNOMAP_DB=POSTGRES://u:" + mark + "@127.0.0.1/x", list},
		{"scheme with backslashes", `LIMNOMAP_DB=postgres:\\u:` + mark + "@127.0.0.1/x", list},
		{"scheme before a space", "LIMNOMAP_DB=postgres ://u:x " + mark + "@127.0.0.1/x", list},
		{"no scheme", "LIMNOMAP_DB=u:x/" + mark + "@127.0.0.1/x", list},
		{"no host", "LIMNOMAP_DB=postgres:/u:" + mark, list},
		{"quotes", `LIMNOMAP_DB="postgres:/u:a'"` + mark + `@127.0.0.1/x"`, list},
		{"escaped delimiters", "LIMNOMAP_DB=postgres%3A%2F%2Fu%3A" + mark + "%40127.0.0.1", list},
		{"keywords with spaces", "LIMNOMAP_DB=server=127.0.0.1 password = x " + mark, list},
		{"argument with a space", "A=", append(serve, "postgres:/u:x "+mark+"@127.0.0.1/x")},
		{"argument with a tab", "A=", append(serve, "u:x\t"+mark+"@127.0.0.1/x")},
		{"unknown flag", "A=", append(serve, "--postgres://u:x "+mark+"@127.0.0.1/x")},
		{"number in arguments", "A=", append(serve, "--api-rate=http:/u:"+mark+" x@127.0.0.1/x")},
		{"file to import", "A=", []string{"import", "lakes", "--db", db, "http:/u:" + mark + " x@127.0.0.1/x"}},
		{"source's scheme", "A=", refresh("htp:/u:" + mark + " x@127.0.0.1/lakes.csv")},
		{"proxy", "HTTP_PROXY=http:/u:" + mark + " x@127.0.0.1:1", refresh("http://192.0.2.1/lakes.csv")},
		{"configuration", "LIMNOMAP_CONFIG=" + limnomaptest.WriteFile(t, dir, "wrong.yaml", "db: postgres:/u:x "+mark+"@h/d\n"), list},
		{"source's kind", "A=", refresh("ftp://u:" + mark + "@127.0.0.1/lakes.csv")},
		{"source's escape", "A=", refresh("http://u:" + mark + "%zz@127.0.0.1/lakes.csv")},
		{"source refuses", "A=", refresh(at(refusing) + "/lakes.csv?token=" + mark)},
		{"source redirects", "A=", refresh(redirect.URL + "/lakes.csv?token=" + mark)},
	}
	if admin := os.Getenv("LIMNOMAP_TEST_POSTGRES"); admin != "" {
		wrong := regexp.MustCompile(`//([^:@]*):[^@]*@`).ReplaceAllString(admin, "//${1}:"+mark+"@")
		tests = append(tests, struct {
			name string
			env  string
			args []string
		}{"database's wrong password", "LIMNOMAP_DB=" + wrong, list})
	} else if os.Getenv("CI") != "" {
		t.Error("LIMNOMAP_TEST_POSTGRES names no PostgreSQL, and nothing may be left out in CI")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(limnomaptest.Binary(t), tt.args...)
			cmd.Env = append(limnomaptest.Environ(), tt.env, "LIMNOMAP_CACHE_DIR="+t.TempDir())
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			stuck := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
			defer stuck.Stop()
			if err := cmd.Run(); err == nil {
				t.Errorf("%q with %s succeeded", tt.args, tt.env)
			}
			if !strings.Contains(out.String(), "limnomap: ") {
				t.Errorf("it does not say why: %q", &out)
			}
			leak(t, "the output", out.String())
			understood := !regexp.MustCompile(`limnomap --help lists|\(see limnomap help`).Match(out.Bytes()) // otherwise there is no log
			inArguments := strings.Contains(strings.Join(tt.args, " "), mark)
			if warned := strings.Contains(out.String(), "is on the command line"); understood && warned != inArguments {
				t.Errorf("secret in the arguments: %v; warned of it: %v\n%s", inArguments, warned, &out)
			}
		})
	}
}

// A server with secrets in all its settings, all of which fail, shows none of them: not in its debug log, not in its answers,
// and not in the process list.
func TestServerKeepsSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\na,Ammersee,48,11.1\n"), "--db", db)
	key := strings.TrimSpace(limnomaptest.Run(t, "keys", "create", "--name", "agency", "--scope", "monitor,metrics", "--db", db))
	redis := redistest.Start(t, "--requirepass", "another")
	var asked atomic.Int32
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, "who is "+r.Header.Get("Authorization")+"?", http.StatusForbidden)
	}))
	defer source.Close()
	var traced atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		traced.Store(strings.Contains(r.Header.Get("Authorization"), mark)) // as OTEL_EXPORTER_OTLP_HEADERS has it
		http.Error(w, "not with "+r.Header.Get("X-Answered"), http.StatusUnauthorized)
	}))
	defer receiver.Close()

	cmd := exec.Command(limnomaptest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain", "0s",
		"--basemap-url", "none", "--cache-dir", t.TempDir(), "--log-level", "debug", "--refresh-every", "1h",
		"--otlp-endpoint", receiver.URL, "--trace-ratio", "1")
	cmd.Env = append(limnomaptest.Environ(), "LIMNOMAP_DB="+db, "LIMNOMAP_REDIS=redis://:"+mark+"@"+redis.Addr,
		"LIMNOMAP_REFRESH_FROM="+strings.Replace(source.URL, "://", "://u:"+mark+"@", 1)+"/lakes.csv?token="+mark,
		"OTEL_EXPORTER_OTLP_HEADERS=Authorization=Basic%20"+mark+",broken=%zz"+mark+","+mark+",X-Answered=Bearer%20"+mark)
	log := new(limnomaptest.Log)
	cmd.Stdout, cmd.Stderr = log, log
	must(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Signal(syscall.SIGTERM)
	address := regexp.MustCompile(`open=(http://\S+)/`)
	adminAddress := regexp.MustCompile(`url=(http://\S+)/metrics`)
	limnomaptest.Within(t, patience, "the server serves", func() bool {
		return address.MatchString(log.String()) && adminAddress.MatchString(log.String())
	})
	base, admin := address.FindStringSubmatch(log.String())[1], adminAddress.FindStringSubmatch(log.String())[1]
	limnomaptest.Within(t, patience, "it is ready and the refresh has failed", func() bool {
		_, body := limnomaptest.Get(t, base+"/readyz")
		return bytes.Contains(body, []byte(`"the source gives no file"`)) && asked.Load() > 0
	})

	monitor := base + "/api/v1/monitor/lakes"
	wrong := "wrong-" + mark
	for i, ask := range []struct {
		url    string
		header []string
		status int
	}{
		{monitor, []string{"X-API-Key", key}, 200},
		{monitor, []string{"X-API-Key", wrong}, 401},
		{monitor + "?api_key=" + key, nil, 401},
		{monitor + "?X-API-Key=" + wrong, nil, 401},
		{monitor + "?limit=" + mark, nil, 401},
		{monitor + "/" + key, nil, 404},
		{base + "/nowhere?password=" + mark, nil, 404},
		{strings.Replace(monitor, "://", "://u:"+mark+"@", 1), nil, 401},
		{monitor, []string{"Authorization", "Bearer " + key}, 401},
		{monitor, []string{"Cookie", "session=" + mark, "Referer", "https://u:" + mark + "@example.org/?key=" + key}, 401},
	} {
		resp, body := limnomaptest.Get(t, ask.url, ask.header...)
		if resp.StatusCode != ask.status {
			t.Errorf("request %d: %s, want %d\n%s", i, resp.Status, ask.status, body)
		}
		var head bytes.Buffer
		_ = resp.Header.Write(&head)
		shown := strings.ReplaceAll(head.String()+string(body), `"instance":"/api/v1/monitor/lakes/`+key+`"`, "") // which its sender wrote there
		leak(t, fmt.Sprintf("answer %d", i), shown, key)
	}
	limnomaptest.Within(t, patience, "the address has to wait", func() bool {
		resp, body := limnomaptest.Get(t, monitor, "X-API-Key", wrong)
		leak(t, "a refusal", string(body), key)
		return resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != ""
	})
	if resp, _ := limnomaptest.Get(t, monitor, "X-API-Key", key); resp.StatusCode != http.StatusOK {
		t.Errorf("the right key behind the same address: %s", resp.Status)
	}
	malformed(t, base, "GET /?"+mark+" HTTP/1.1\r\nX-API-Key: "+key+"\r\n"+mark+"\r\n\r\n")
	malformed(t, base, "GET http://u:"+mark+"@x/%zz HTTP/1.1\r\nHost: x\r\n\r\n")
	malformed(t, base, "GET / HTTP/1.1\r\nHost: u:"+mark+"@x\r\nX-API-Key: "+key+"\r\n\r\n")

	for _, url := range []string{admin + "/metrics", base + "/readyz", base + "/page.json", base + "/api/v1/tiles.json", admin + "/debug/pprof/cmdline", admin + "/debug/pprof/goroutine?debug=2"} {
		resp, body := limnomaptest.Get(t, url)
		if resp.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", url, resp.Status)
		}
		leak(t, url, string(body), key)
	}
	_, metrics := limnomaptest.Get(t, admin+"/metrics")
	if !regexp.MustCompile(`limnomap_key_refused_total\{reason="throttled"\} [1-9]`).Match(metrics) {
		t.Error("the metrics do not count the throttled requests")
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
	if err != nil {
		t.Error(err)
	}
	leak(t, "the list of processes", string(cmdline), key)

	must(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ends with %v", err)
	}
	if !traced.Load() {
		t.Error("no traces were sent with their secret")
	}
	leak(t, "the log", log.String(), key)
	for _, told := range []string{"refresh", "status=401", "client=127.0.0.0/24", "key=agency", "rate limits cannot be shared",
		"cannot send traces", "ignoring a header of OTEL_EXPORTER_OTLP_HEADERS"} {
		if !strings.Contains(log.String(), told) {
			t.Errorf("the log does not tell of %q:\n%s", told, log)
		}
	}
	if strings.Contains(log.String(), "is on the command line") {
		t.Error("it warns of a command line that holds no secret")
	}
	if list := limnomaptest.Run(t, "keys", "list", "--json", "--db", db); !strings.Contains(list, `"last_used_at": "20`) {
		t.Errorf("the use of the key was not noted:\n%s", list)
	}
}

// malformed sends an invalid request and ignores the answer.
func malformed(t *testing.T, base, request string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(base, "http://"), patience)
	must(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	resp.Body.Close()
	leak(t, "the answer to a malformed request", string(body))
}
