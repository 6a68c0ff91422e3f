package notify

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"

	"limnomap/data/fetchguard"
)

// NewForTest is New for push services with a certificate of a test.
func NewForTest(o Options, certificate *x509.Certificate) *Sender {
	s := New(o)
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	s.client.Transport = fetchguard.NewPublic(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}, o.Allow)
	return s
}

// NewWith is New with a transport of a test.
func NewWith(o Options, transport http.RoundTripper) *Sender {
	s := New(o)
	s.client.Transport = transport
	return s
}
