//go:build long

package deploy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// Caddy with the example configuration and a certificate that it makes itself.
func TestCaddy(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "caddy")
	t.Log("Caddy", output(t, "caddy", "version"))
	if out := output(t, "caddy", "validate", "--adapter", "caddyfile", "--config", "Caddyfile"); !strings.Contains(out, "Valid configuration") {
		t.Errorf("caddy validate says:\n%s", out)
	}
	dir, address := t.TempDir(), limnomaptest.FreeAddress(t)
	server := limnomaptest.Start(t, "--trusted-proxies", "127.0.0.1/32")
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	site := "https://localhost:" + port
	conf := replaced(t, "Caddyfile",
		"\nlakes.example.org {", "\n{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n\n"+site+" {\n\ttls internal",
		"reverse_proxy 127.0.0.1:8080 ", "reverse_proxy "+strings.TrimPrefix(server.Base, "http://")+" ")
	cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", limnomaptest.WriteFile(t, dir, "Caddyfile", conf))
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+filepath.Join(dir, "data"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	insecure := &tls.Config{InsecureSkipVerify: true, ServerName: "localhost"}
	runProxy(t, cmd, func() error { // it listens before its certificate is ready
		conn, err := tls.Dial("tcp", address, insecure)
		if err != nil {
			return err
		}
		return conn.Close()
	})

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: insecure.Clone(), ForceAttemptHTTP2: true}}
	get := func(path string, header ...string) (*http.Response, []byte) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, site+path, nil)
		must(t, err)
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := client.Do(req)
		must(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		must(t, err)
		return resp, body
	}
	direct, want := limnomaptest.Get(t, server.Base+berlin+".png")
	resp, tile := get(berlin+".png", "Accept-Encoding", "gzip", "X-Forwarded-For", "203.0.113.9")
	if resp.StatusCode != 200 || resp.ProtoMajor != 2 || resp.Header.Get("Content-Encoding") != "" || !bytes.Equal(tile, want) || resp.Header.Get("ETag") != direct.Header.Get("ETag") {
		t.Errorf("the tile through Caddy: %s %s, %d bytes of %d, %v", resp.Proto, resp.Status, len(tile), len(want), resp.Header)
	}
	if resp, _ := get(berlin+".png", "If-None-Match", resp.Header.Get("ETag")); resp.StatusCode != http.StatusNotModified {
		t.Errorf("with its ETag: %s, want 304", resp.Status)
	}
	if resp, _ := get(berlin+".mvt", "Accept-Encoding", "gzip"); resp.StatusCode != 200 || resp.Header.Get("Content-Encoding") != "gzip" || !strings.HasSuffix(resp.Header.Get("ETag"), `-gzip"`) {
		t.Errorf("the vector tile: %s, in %q, want limnomap's gzip", resp.Status, resp.Header.Get("Content-Encoding"))
	}
	resp, body := get("/api/v1/tiles.json", "X-Forwarded-Host", "evil.example")
	if resp.StatusCode != 200 || bytes.Contains(body, []byte("evil.example")) || bytes.Contains(body, []byte("localhost")) {
		t.Errorf("TileJSON believes what anybody says of the host: %s\n%s", resp.Status, body)
	}
	if strings.Contains(server.Log.String(), "203.0.113.9") {
		t.Error("the server believes the address that a client claims")
	}
}
