package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"
)

type healthcheckCmd struct {
	Listen   string        `help:"Address that the server listens on, ${default} by default." default:"127.0.0.1:8080" placeholder:"HOST:PORT"`
	TLSCert  string        `name:"tls-cert" help:"The server's --tls-cert: ask over HTTPS." placeholder:"FILE"`
	BasePath string        `help:"The server's --base-path." placeholder:"PATH"`
	Ready    bool          `help:"Ask whether it has data and takes requests (/readyz), not only whether it lives (/healthz)."`
	Timeout  time.Duration `help:"How long to wait for the answer." default:"3s"`
}

func (c *healthcheckCmd) Run(ctx context.Context, con *console) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %q is not HOST:PORT: %w", c.Listen, err)
	}
	// A server that listens on every address is asked on this machine's own.
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	basePath, err := cleanBasePath(c.BasePath)
	if err != nil {
		return err
	}
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	client, scheme := http.DefaultClient, "http"
	if c.TLSCert != "" {
		client, scheme = unverified(), "https"
	}
	url := scheme + "://" + net.JoinHostPort(host, port) + basePath + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, resp.Status)
	}
	_, err = fmt.Fprintln(con.out, "ok")
	return err
}

// unverified returns a client that takes any certificate. The server's own bears the name that the world knows, not the
// address that this machine asks; it may be renewed any moment, and one that has expired is not mended by a restart. The
// question holds no secret, and the answer is yes or no.
func unverified() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}
