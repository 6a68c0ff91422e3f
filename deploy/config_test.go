//go:build unix

package deploy

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// reloadMetric returns the value of a metric about reloads.
func reloadMetric(t *testing.T, s *limnomaptest.Server, name string) float64 {
	t.Helper()
	_, text := limnomaptest.Get(t, s.Admin+"/metrics")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "limnomap_config_last_reload_"+name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			must(t, err)
			return f
		}
	}
	t.Fatalf("there is no metric limnomap_config_last_reload_%s", name)
	return 0
}

// hangUp sends SIGHUP and waits for one more log line with that message.
func hangUp(t *testing.T, s *limnomaptest.Server, says string) (log string) {
	t.Helper()
	before := len(s.Log.String())
	must(t, s.Process.Signal(syscall.SIGHUP))
	limnomaptest.Within(t, patience, "the log says "+says, func() bool {
		log = s.Log.String()[before:]
		return strings.Contains(log, says)
	})
	return log
}

func TestHangupReloadsTheConfiguration(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "limnomap.yaml")
	write := func(text string) {
		t.Helper()
		limnomaptest.WriteFile(t, filepath.Dir(name), filepath.Base(name), text)
	}
	write("tile-rate: 2\nattribution: first\ncors-origins: ['*']\n")
	s := limnomaptest.Start(t, "--config", name)
	tile := s.Base + "/api/v1/tiles/0/0/0.png"
	page := func() string {
		_, body := limnomaptest.Get(t, s.Base+"/page.json")
		return string(body)
	}
	limited := func() bool {
		for range 3 {
			if resp, _ := limnomaptest.Get(t, tile); resp.StatusCode == http.StatusTooManyRequests {
				return true
			}
		}
		return false
	}
	if !limited() || !strings.Contains(page(), `"attribution":"first"`) {
		t.Fatalf("the server does not use its file:\n%s", page())
	}
	if got := reloadMetric(t, s, "successful"); got != 1 {
		t.Errorf("successful is %v after the start, want 1", got)
	}
	started := reloadMetric(t, s, "success_timestamp_seconds")

	write("tile-rate: 0\nserve:\n  attribution: second\n  cors-origins: [https://maps.example.org]\n  frame-ancestors: none\n  log-level: debug\n  weeks: 7\n  max-zoom: 3\n")
	log := hangUp(t, s, "configuration reloaded")
	limnomaptest.Within(t, patience, "the log names what needs a restart", func() bool {
		log = s.Log.String()
		return strings.Contains(log, `settings="[weeks max-zoom]"`)
	})
	if !strings.Contains(log, "changed=\"[log-level cors-origins frame-ancestors attribution tile-rate]\"") {
		t.Errorf("the log does not name what changed:\n%s", log)
	}
	if limited() {
		t.Error("tiles are limited still")
	}
	resp, _ := limnomaptest.Get(t, s.Base+"/embed", "Origin", "https://maps.example.org")
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "https://maps.example.org" {
		t.Errorf("Access-Control-Allow-Origin: %q", got)
	}
	if got := resp.Header.Get("Content-Security-Policy"); !strings.Contains(got, "frame-ancestors 'none'") {
		t.Errorf("Content-Security-Policy: %q", got)
	}
	if got := page(); !strings.Contains(got, `"attribution":"second"`) || !strings.Contains(got, `"max_zoom":18`) {
		t.Errorf("the page's settings are %s, want the new attribution and the old zoom", got)
	}
	if got := reloadMetric(t, s, "success_timestamp_seconds"); got <= started {
		t.Errorf("the last success was at %v, want later than %v", got, started)
	}

	succeeded := reloadMetric(t, s, "success_timestamp_seconds")
	for text, want := range map[string]string{
		"attribution: third\ntile-rat: 1\n":                     name + `:2: unknown key \"tile-rat\"`,
		"attribution: third\ntile-rate: -1\n":                   "--tile-rate -1",
		"attribution: third\ndb: postgres://u:geheim@[/x\n":     "--db",
		"attribution: third\ntls-cert: a.pem\n":                 "--tls-cert",
		"attribution: third\ndb: postgres://u:<hidden>@h/d\n":   "was printed instead of a secret",
		"attribution: third\nrefresh-every: 7d\nlog-level: x\n": "log-level",
	} {
		write(text)
		log := hangUp(t, s, "reload failed: keeping the previous configuration")
		if !strings.Contains(log, want) || strings.Contains(log, "geheim") {
			t.Errorf("%q: the log says\n%s\nwant that it contains %q, and no secret", text, log, want)
		}
		if got := reloadMetric(t, s, "successful"); got != 0 {
			t.Errorf("%q: successful is %v, want 0", text, got)
		}
	}
	must(t, os.Remove(name))
	hangUp(t, s, "reload failed: keeping the previous configuration")
	if got := page(); !strings.Contains(got, `"attribution":"second"`) || limited() {
		t.Errorf("a wrong configuration has changed something: %s", got)
	}
	if got := reloadMetric(t, s, "success_timestamp_seconds"); got != succeeded {
		t.Errorf("the last success was at %v, want %v: nothing was taken over since", got, succeeded)
	}

	write("attribution: fourth\n")
	hangUp(t, s, "configuration reloaded")
	if got := page(); !strings.Contains(got, `"attribution":"fourth"`) {
		t.Errorf("after a wrong configuration a right one is not taken: %s", got)
	}
	if got := reloadMetric(t, s, "successful"); got != 1 {
		t.Errorf("successful is %v, want 1", got)
	}
}

// Without a configuration file SIGHUP reloads the certificate. It never ends the server, not even a hundred signals at once
// while the server answers requests.
func TestHangupWithoutAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePair(t, cert, key, 1001)
	s := limnomaptest.Start(t, "--tls-cert", cert, "--tls-key", key)
	serial := func() int64 {
		t.Helper()
		resp, err := s.Client().Get(s.Base + "/healthz")
		must(t, err)
		resp.Body.Close()
		return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	if got := serial(); got != 1001 {
		t.Fatalf("serial %d, want 1001", got)
	}
	writePair(t, cert, key, 1002)
	hangUp(t, s, "reloaded without a configuration file: read the certificate and the files of secrets again")
	if got := serial(); got != 1002 {
		t.Errorf("serial %d after the hangup, want 1002", got)
	}
	for range 100 {
		must(t, s.Process.Signal(syscall.SIGHUP))
		serial()
	}
	limnomaptest.WriteFile(t, dir, "cert.pem", "no certificate")
	hangUp(t, s, "reload failed: keeping the previous configuration")
	if got := serial(); got != 1002 {
		t.Errorf("serial %d after a wrong certificate, want 1002", got)
	}
}

// writePair writes a certificate with that serial number and its key.
func writePair(t *testing.T, cert, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: fmt.Sprint(serial)}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	must(t, err)
	der, err := x509.MarshalECPrivateKey(private)
	must(t, err)
	limnomaptest.WriteFile(t, filepath.Dir(key), filepath.Base(key), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})))
	limnomaptest.WriteFile(t, filepath.Dir(cert), filepath.Base(cert), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})))
}
