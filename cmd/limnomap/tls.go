package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/cmd/limnomap/config"
)

const (
	// certificateEvery is how often the files are read. Two small files are read in microseconds, and comparing their content
	// detects each kind of renewal: copied files, renamed files and changed symbolic links, even with equal modification
	// times.
	certificateEvery = 2 * time.Second
	// maxPEM bounds one of the files: a long chain has 20 kB.
	maxPEM = 1 << 20
)

// A certificate is the server's certificate, read again when its files change. If they cannot be used, for example while only
// one of them is written, the previous certificate stays in use. Handshakes may use it while watch runs.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time
	current           atomic.Pointer[tls.Certificate]

	mu      sync.Mutex           // guards the fields below
	served  [2][sha256.Size]byte // hashes of the files that current was read from
	problem string               // why the files cannot be used now, or ""
	expired bool                 // whether the log already says that current has expired
}

// openCertificate reads the two files, which must be valid. An expired certificate is served with a warning: some clients
// accept it, while a server that does not start serves none.
func openCertificate(certFile, keyFile string, now func() time.Time, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, now: now, log: log}
	if _, err := c.load(); err != nil {
		return nil, err
	}
	c.warn()
	return c, nil
}

// config returns the TLS configuration: TLS 1.2 or 1.3 with the defaults of crypto/tls.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// watch reads the files at each certificateEvery until ctx ends.
func (c *certificate) watch(ctx context.Context) {
	ticker := time.NewTicker(certificateEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.refresh()
		}
	}
}

// refresh reads the files and uses a changed certificate. A problem is logged once.
func (c *certificate) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.load()
	switch {
	case err != nil && err.Error() != c.problem:
		c.problem = err.Error()
		c.log.Error("cannot use the new certificate: still serving the previous one", "error", err)
	case err == nil && (changed || c.problem != ""):
		c.problem = ""
		leaf := c.current.Load().Leaf
		c.log.Info("serving the new certificate", "serial", leaf.SerialNumber, "not_after", leaf.NotAfter)
	}
	c.warn()
}

// warn logs once that a certificate has expired.
func (c *certificate) warn() {
	notAfter := c.current.Load().Leaf.NotAfter
	expired := c.now().After(notAfter)
	if expired && !c.expired {
		c.log.Warn("the certificate has expired: clients refuse it", "tls-cert", c.certFile, "not_after", notAfter)
	}
	c.expired = expired
}

// load reads the files into current, and reports whether they changed.
func (c *certificate) load() (changed bool, err error) {
	chain, err := config.ReadFile(c.certFile, maxPEM)
	if err != nil {
		return false, fmt.Errorf("--tls-cert: %w", err)
	}
	key, err := config.ReadFile(c.keyFile, maxPEM)
	if err != nil {
		return false, fmt.Errorf("--tls-key: %w", err)
	}
	found := [2][sha256.Size]byte{sha256.Sum256(chain), sha256.Sum256(key)}
	if found == c.served {
		return false, nil
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return false, fmt.Errorf("--tls-cert %s with --tls-key %s: %w: want a certificate chain and its key, in PEM",
			c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	c.served = found
	return true, nil
}

// measure exports when the certificate expires.
func (c *certificate) measure(registry prometheus.Registerer) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_tls_certificate_expiry_timestamp_seconds",
		Help: "When the served certificate expires, in seconds since 1970.",
	}, func() float64 { return float64(c.current.Load().Leaf.NotAfter.Unix()) }))
}
