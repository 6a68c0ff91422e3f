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
	Listen   string        `help:"Address that the server listens on, ${default} by default." default:"127.0.0.1:8080" check:"address" placeholder:"HOST:PORT"`
	TLSCert  string        `name:"tls-cert" help:"The server's --tls-cert: use HTTPS." placeholder:"FILE"`
	BasePath string        `help:"The server's --base-path." check:"base-path" placeholder:"PATH"`
	Ready    bool          `help:"Check whether it has data and accepts requests (/readyz), not only whether it is alive (/healthz)."`
	Timeout  time.Duration `help:"How long to wait for the answer." default:"3s"`
}

func (c *healthcheckCmd) Run(ctx context.Context, con *console) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %q is not HOST:PORT: %w", c.Listen, err)
	}
	// A server that listens on all addresses also listens on localhost.
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
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
	url := scheme + "://" + net.JoinHostPort(host, port) + cleanBasePath(c.BasePath) + path
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
		return fmt.Errorf("%s answered %s", url, resp.Status)
	}
	_, err = fmt.Fprintln(con.out, "ok")
	return err
}

// unverified returns a client that accepts any certificate. The server's certificate has its public name, not the address
// that is used here, and a restart does not renew an expired one. The request has no secrets, and the answer is yes or no.
func unverified() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}
