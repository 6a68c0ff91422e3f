package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/cmd/limnomap/limnomaptest"
)

// newPair returns a self-signed certificate for localhost with that serial number, and its key.
func newPair(t testing.TB, serial int64, notAfter time.Time) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	mustDo(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		NotBefore:    notAfter.AddDate(-1, 0, 0),
		NotAfter:     notAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	mustDo(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	mustDo(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// pairFiles writes a pair and returns the names of its files.
func pairFiles(t testing.TB, dir string, cert, key []byte) (certFile, keyFile string) {
	t.Helper()
	return limnomaptest.WriteFile(t, dir, "cert.pem", string(cert)), limnomaptest.WriteFile(t, dir, "key.pem", string(key))
}

func nextYear() time.Time { return time.Now().AddDate(1, 0, 0) }

// clientOf returns a client with only these protocols. It accepts any certificate and opens a connection for each request.
func clientOf(t testing.TB, set func(*http.Protocols)) *http.Client {
	t.Helper()
	var protocols http.Protocols
	set(&protocols)
	return &http.Client{Transport: &http.Transport{
		Protocols:          &protocols,
		DisableKeepAlives:  true,
		DisableCompression: true, // which would hide the length
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: true},
	}}
}

func http1(p *http.Protocols) { p.SetHTTP1(true) }
func http2(p *http.Protocols) { p.SetHTTP2(true) }
func h2c(p *http.Protocols)   { p.SetUnencryptedHTTP2(true) }

// fetch requests the status and reads the whole body.
func fetch(t testing.TB, client *http.Client, base string) *http.Response {
	t.Helper()
	resp, err := client.Get(base + "/api/v1/bathing-lakes/status")
	mustDo(t, err)
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK || n != resp.ContentLength {
		t.Fatalf("status over %s: %s, %d of %d bytes, %v", resp.Proto, resp.Status, n, resp.ContentLength, err)
	}
	return resp
}

func TestServeTLS(t *testing.T) {
	cert, key := newPair(t, 1, nextYear())
	certFile, keyFile := pairFiles(t, t.TempDir(), cert, key)
	base, _ := startServerFor(t, clientOf(t, http2), "--tls-cert", certFile, "--tls-key", keyFile)
	address, secure := strings.CutPrefix(base, "https://")
	if !secure {
		t.Fatalf("open address = %s, want https", base)
	}
	if resp := fetch(t, clientOf(t, http2), base); resp.Proto != "HTTP/2.0" || resp.TLS.Version != tls.VersionTLS13 {
		t.Errorf("an HTTP/2 client gets %s, TLS %x", resp.Proto, resp.TLS.Version)
	}
	if resp := fetch(t, clientOf(t, http1), base); resp.Proto != "HTTP/1.1" {
		t.Errorf("an HTTP/1 client gets %s", resp.Proto)
	}
	old := clientOf(t, http1)
	old.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS11
	if resp, err := old.Get(base + "/healthz"); err == nil {
		resp.Body.Close()
		t.Errorf("a TLS 1.1 client gets %s, want no connection", resp.Status)
	}
	if resp, body := limnomaptest.Get(t, "http://"+address+"/healthz"); resp.StatusCode != http.StatusBadRequest || !bytes.Contains(body, []byte("HTTPS")) {
		t.Errorf("without TLS: %s %s, want 400 that names HTTPS", resp.Status, body)
	}
	if out := mustRun(t, "healthcheck", "--listen", address, "--tls-cert", certFile, "--ready"); out != "ok\n" {
		t.Errorf("healthcheck = %q", out)
	}
	if _, _, err := runCommand(t, "healthcheck", "--listen", address); err == nil {
		t.Error("healthcheck over HTTP of an HTTPS server succeeded")
	}
}

// As with certbot, the files are symbolic links, which a renewal changes to new files, one after the other.
func TestServeUsesARenewedCertificate(t *testing.T) {
	dir := t.TempDir()
	certLink, keyLink := filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "privkey.pem")
	point := func(link, target string) {
		t.Helper()
		next := link + ".next"
		mustDo(t, os.Symlink(target, next))
		mustDo(t, os.Rename(next, link))
	}
	var certFiles, keyFiles [3]string
	for serial := range certFiles {
		cert, key := newPair(t, int64(serial), nextYear())
		certFiles[serial], keyFiles[serial] = pairFiles(t, t.TempDir(), cert, key)
	}
	point(certLink, certFiles[1])
	point(keyLink, keyFiles[1])
	client := clientOf(t, http2)
	base, log := startServerFor(t, client, "--tls-cert", certLink, "--tls-key", keyLink)
	served := func() int64 { return fetch(t, client, base).TLS.PeerCertificates[0].SerialNumber.Int64() }
	if got := served(); got != 1 {
		t.Fatalf("serial %d is served, want 1", got)
	}
	point(certLink, certFiles[2])
	limnomaptest.Within(t, patience, "the log says that the key does not match", func() bool { return strings.Contains(log.String(), "does not match") })
	if got := served(); got != 1 {
		t.Errorf("with half of a renewal serial %d is served, want 1", got)
	}
	point(keyLink, keyFiles[2])
	limnomaptest.Within(t, patience, "the renewal is served", func() bool { return served() == 2 })
	if strings.Contains(log.String(), keyLink+" is") || strings.Contains(log.String(), "PRIVATE") {
		t.Errorf("the log has a part of a private key:\n%s", log)
	}
}

func TestServeNeedsCertificateAndKey(t *testing.T) {
	cert, key := newPair(t, 1, nextYear())
	certFile, keyFile := pairFiles(t, t.TempDir(), cert, key)
	_, otherKey := newPair(t, 2, nextYear())
	other := limnomaptest.WriteFile(t, t.TempDir(), "other.pem", string(otherKey))
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"no key", []string{"--tls-cert", certFile}, []string{"--tls-key", "HTTPS needs"}},
		{"no certificate", []string{"--tls-key", keyFile}, []string{"--tls-cert", "HTTPS needs"}},
		{"absent", []string{"--tls-cert", "absent.pem", "--tls-key", keyFile}, []string{"--tls-cert", "absent.pem"}},
		{"absent key", []string{"--tls-cert", certFile, "--tls-key", "absent.pem"}, []string{"--tls-key", "absent.pem"}},
		{"folder", []string{"--tls-cert", certFile, "--tls-key", t.TempDir()}, []string{"--tls-key", "regular file"}},
		{"swapped", []string{"--tls-cert", keyFile, "--tls-key", certFile}, []string{"--tls-cert " + keyFile, "PEM"}},
		{"key of another", []string{"--tls-cert", certFile, "--tls-key", other}, []string{other, "does not match", "its key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := runCommand(t, append([]string{"serve", "--cache-disk", "0", "--listen", "127.0.0.1:0"}, tt.args...)...)
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("serve %q: %v, want an error that contains %q", tt.args, err, want)
				}
			}
		})
	}
}

func TestInvalidFilesKeepTheCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := newPair(t, 1, nextYear())
	certFile, keyFile := pairFiles(t, dir, cert, key)
	var log bytes.Buffer
	c, err := openCertificate(certFile, keyFile, time.Now, slog.New(slog.NewTextHandler(&log, nil)))
	mustDo(t, err)
	newCert, newKey := newPair(t, 2, nextYear())
	for _, step := range []struct {
		name      string
		cert, key string // empty: the file is removed
		serial    int64
		invalid   bool
	}{
		{"unchanged", string(cert), string(key), 1, false},
		{"half of the certificate", string(newCert[:len(newCert)/2]), string(key), 1, true},
		{"only the certificate", string(newCert), string(key), 1, true},
		{"both", string(newCert), string(newKey), 2, false},
		{"no key", string(newCert), "", 2, true},
		{"the same key again", string(newCert), string(newKey), 2, false},
		{"garbage", "\x00\xff", "\x00\xff", 2, true},
		{"endless", strings.Repeat("x", maxPEM+1), string(newKey), 2, true},
		{"the first pair", string(cert), string(key), 1, false},
	} {
		for name, text := range map[string]string{certFile: step.cert, keyFile: step.key} {
			if text == "" {
				mustDo(t, os.Remove(name))
				continue
			}
			limnomaptest.WriteFile(t, dir, filepath.Base(name), text)
		}
		log.Reset()
		for range 3 {
			c.refresh()
		}
		if got := c.current.Load().Leaf.SerialNumber.Int64(); got != step.serial {
			t.Errorf("%s: serial %d is served, want %d", step.name, got, step.serial)
		}
		faults := 0
		if step.invalid {
			faults = 1
		}
		if got := strings.Count(log.String(), "level=ERROR"); got != faults {
			t.Errorf("%s: %d errors in the log after three reads, want %d:\n%s", step.name, got, faults, &log)
		}
		if said := strings.Contains(log.String(), "serving the new certificate"); said == (step.invalid || step.name == "unchanged") {
			t.Errorf("%s: the log has a new certificate: %v\n%s", step.name, said, &log)
		}
	}
}

func TestCertificateExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notAfter := time.Now().Add(time.Hour).Truncate(time.Second)
		cert, key := newPair(t, 1, notAfter)
		dir := t.TempDir()
		certFile, keyFile := pairFiles(t, dir, cert, key)
		log := new(limnomaptest.Log)
		c, err := openCertificate(certFile, keyFile, time.Now, slog.New(slog.NewTextHandler(log, nil)))
		mustDo(t, err)
		registry := prometheus.NewRegistry()
		mustDo(t, c.measure(registry))
		if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
			t.Errorf("metrics: %v, %v", problems, err)
		}
		families, err := registry.Gather()
		if err != nil || len(families) != 1 || families[0].GetMetric()[0].GetGauge().GetValue() != float64(notAfter.Unix()) {
			t.Errorf("metrics = %v, %v, want %d", families, err, notAfter.Unix())
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { // ends with cancel
			defer close(done)
			c.watch(ctx)
		}()
		time.Sleep(59 * time.Minute)
		if strings.Contains(log.String(), "expired") {
			t.Errorf("the certificate has not expired, but the log has\n%s", log)
		}
		time.Sleep(time.Hour)
		if got := strings.Count(log.String(), "expired"); got != 1 {
			t.Errorf("the log has %d times that the certificate has expired, want once:\n%s", got, log)
		}
		cert, key = newPair(t, 2, notAfter.AddDate(1, 0, 0))
		pairFiles(t, dir, cert, key)
		time.Sleep(certificateEvery)
		synctest.Wait()
		if got := c.current.Load().Leaf.SerialNumber.Int64(); got != 2 {
			t.Errorf("serial %d is served %v after a renewal, want 2", got, certificateEvery)
		}
		cancel()
		<-done
	})
}

func TestServeWithAnExpiredCertificate(t *testing.T) {
	cert, key := newPair(t, 1, time.Now().AddDate(0, 0, -1))
	certFile, keyFile := pairFiles(t, t.TempDir(), cert, key)
	client := clientOf(t, http2)
	base, log := startServerFor(t, client, "--tls-cert", certFile, "--tls-key", keyFile)
	fetch(t, client, base)
	if !strings.Contains(log.String(), "has expired") {
		t.Errorf("the log has no warning about the expired certificate:\n%s", log)
	}
}
