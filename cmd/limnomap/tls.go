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
)

const (
	// certificateEvery is how often the files are looked at. Two small files are read in microseconds, and comparing
	// what is in them sees a renewal by copying, by renaming and by swapping symbolic links alike, where times of
	// modification may stay the same.
	certificateEvery = 2 * time.Second
	// maxPEM bounds what is read of one of the files: a long chain has 20 kB.
	maxPEM = 1 << 20
)

// A certificate is what the server proves its name with, read anew whenever its files change. What cannot be used, such
// as a pair of which one half is still to be written, leaves the one before in service. Handshakes may ask for it while
// watch runs.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	now               func() time.Time
	current           atomic.Pointer[tls.Certificate]

	mu sync.Mutex // guards what follows, and refresh
	// What follows is load's, refresh's and warn's.
	served  [2][sha256.Size]byte // the files that current was read from
	fault   string               // why what is in the files now cannot be used; empty: it is current
	expired bool                 // whether the log says so of current
}

// openCertificate reads the pair of files, which has to be whole. An expired certificate is served with a warning: a
// client may refuse it or not, but would get nothing from a server that does not start.
func openCertificate(certFile, keyFile string, now func() time.Time, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, now: now, log: log}
	if _, err := c.load(); err != nil {
		return nil, err
	}
	c.warn()
	return c, nil
}

// config returns how connections are secured: TLS 1.2 or 1.3 with what crypto/tls deems sound.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}

// watch looks at the files until ctx ends.
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

// refresh takes over what is in the files, and says once what is wrong with it.
func (c *certificate) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.load()
	switch {
	case err != nil && err.Error() != c.fault:
		c.fault = err.Error()
		c.log.Error("the new certificate cannot be used, the one before is served on", "error", err)
	case err == nil && (changed || c.fault != ""):
		c.fault = ""
		leaf := c.current.Load().Leaf
		c.log.Info("serving the certificate that is on disk", "serial", leaf.SerialNumber, "not_after", leaf.NotAfter)
	}
	c.warn()
}

// warn says once of a certificate that it has expired.
func (c *certificate) warn() {
	notAfter := c.current.Load().Leaf.NotAfter
	expired := c.now().After(notAfter)
	if expired && !c.expired {
		c.log.Warn("the certificate has expired: clients refuse it", "tls-cert", c.certFile, "not_after", notAfter)
	}
	c.expired = expired
}

// load makes current what is in the files, and reports whether that is another certificate than before.
func (c *certificate) load() (changed bool, err error) {
	chain, err := readBounded(c.certFile, maxPEM)
	if err != nil {
		return false, fmt.Errorf("--tls-cert: %w", err)
	}
	key, err := readBounded(c.keyFile, maxPEM)
	if err != nil {
		return false, fmt.Errorf("--tls-key: %w", err)
	}
	found := [2][sha256.Size]byte{sha256.Sum256(chain), sha256.Sum256(key)}
	if found == c.served {
		return false, nil
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return false, fmt.Errorf("--tls-cert %s with --tls-key %s: %w: want a certificate, those that it was signed with, and its key, in PEM",
			c.certFile, c.keyFile, err)
	}
	c.current.Store(&pair)
	c.served = found
	return true, nil
}

// measure exports when the certificate expires, for an alert well before that.
func (c *certificate) measure(registry prometheus.Registerer) error {
	return registry.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "limnomap_tls_certificate_expiry_timestamp_seconds",
		Help: "When the certificate that is served expires, in seconds since 1970.",
	}, func() float64 { return float64(c.current.Load().Leaf.NotAfter.Unix()) }))
}
