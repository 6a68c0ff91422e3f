package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api"
	"limnomap/api/quota"
	"limnomap/render"
)

// inspect returns what would keep the server from starting, as far as that shows without opening or asking anything.
func (c *serveCmd) inspect(context.Context) error {
	if _, err := c.check(); err != nil {
		return err
	}
	if err := c.checkRefresh(); err != nil {
		return err
	}
	if err := c.inspectSource(len(c.Refresh.From) > 0); err != nil {
		return err
	}
	if c.Redis != "" {
		if err := quota.Check(c.Redis); err != nil {
			return fmt.Errorf("--redis: %w", err)
		}
	}
	_, err := c.certificate(prometheus.NewRegistry(), quiet())
	return err
}

// check returns the part of the server's options that the flags alone decide.
func (c *serveCmd) check() (opts api.Options, err error) {
	if err := c.checkListeners(); err != nil {
		return opts, err
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return opts, fmt.Errorf("--tls-cert %q with --tls-key %q: HTTPS needs a file for each, HTTP none for either", c.TLSCert, c.TLSKey)
	}
	switch {
	case c.HSTS > 0 && c.TLSCert == "":
		return opts, errors.New("--hsts needs --tls-cert: browsers ignore it over HTTP, and a proxy that has the certificate says it itself")
	case c.MetricsKey && c.AdminListen != "":
		return opts, errors.New("--metrics-key with --admin-listen: metrics on a listener of their own need no key")
	case c.MetricsKey && c.DB == "":
		return opts, errors.New("--metrics-key needs --db: the demo has one key, which everybody knows")
	}
	if c.BasePath, err = cleanBasePath(c.BasePath); err != nil {
		return opts, err
	}
	if c.MaxZoom < 0 || c.MaxZoom > render.MaxZoom {
		return opts, fmt.Errorf("--max-zoom %d: allowed are 0 to %d", c.MaxZoom, render.MaxZoom)
	}
	if c.CacheMemory < 1<<20 {
		return opts, fmt.Errorf("--cache-memory %d bytes: at least 1MiB is needed", c.CacheMemory)
	}
	for _, rate := range []struct {
		flag  string
		value int
	}{{"--api-rate", c.APIRate}, {"--tile-rate", c.TileRate}, {"--key-rate", c.KeyRate}} {
		if rate.value < 0 {
			return opts, fmt.Errorf("%s %d: requests a minute are 0 (no limit) or more", rate.flag, rate.value)
		}
	}
	if c.LogRequests < 0 {
		return opts, fmt.Errorf("--log-requests %d: lines a second are 0 (no bound) or more", c.LogRequests)
	}
	if c.Drain < 0 {
		return opts, fmt.Errorf("--drain %v: allowed are 0s and more", c.Drain)
	}
	if c.Shutdown < 0 {
		return opts, fmt.Errorf("--shutdown %v: allowed are 0s and more", c.Shutdown)
	}
	opts = api.Options{
		MaxZoom:            c.MaxZoom,
		BasePath:           c.BasePath,
		BasemapURL:         c.BasemapURL,
		BasemapAttribution: c.BasemapAttribution,
		SeparateAdmin:      c.AdminListen != "",
		MetricsKey:         c.MetricsKey,
		HSTS:               time.Duration(c.HSTS),
		Adjustable: api.Adjustable{
			Attribution:    c.Attribution,
			TrustedProxies: prefixes(c.TrustedProxies),
			AllowedOrigins: c.CORSOrigins,
			FrameAncestors: c.FrameAncestors,
			APIRate:        c.APIRate,
			TileRate:       c.TileRate,
			KeyRate:        c.KeyRate,
			LogRequests:    c.LogRequests,
		},
	}
	if c.BasemapURL == "none" {
		opts.BasemapURL, opts.BasemapAttribution = "", ""
	} else if !strings.Contains(c.BasemapURL, "{z}") || !strings.Contains(c.BasemapURL, "{x}") || !strings.Contains(c.BasemapURL, "{y}") {
		return opts, fmt.Errorf("--basemap-url %q: an address with {z}, {x} and {y} in it, or none", c.BasemapURL)
	}
	for _, origin := range c.CORSOrigins {
		if u, err := url.Parse(origin); origin != "*" && (err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host) {
			return opts, fmt.Errorf("--cors-origins %q is not an origin such as https://maps.example.org, or *", origin)
		}
	}
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return opts, fmt.Errorf("--public-url %q is not http(s)://HOST[:PORT][/PATH]", withoutSecrets(c.PublicURL))
		}
		opts.PublicURL = u
	}
	return opts, c.tracingFlags.check()
}

// checkListeners returns an error if an address to listen on is none. Whether it is free shows when it is listened on.
func (c *serveCmd) checkListeners() error {
	for _, on := range []struct{ flag, address string }{{"--listen", c.Listen}, {"--admin-listen", c.AdminListen}} {
		if on.flag == "--admin-listen" && on.address == "" {
			continue
		}
		_, port, err := net.SplitHostPort(on.address)
		if err == nil && port != "" {
			_, err = net.LookupPort("tcp", port) // which asks no network
		}
		if err != nil || port == "" {
			return fmt.Errorf("%s %q is not HOST:PORT, or :PORT for every address, with a port from 0 (any that is free) to 65535", on.flag, on.address)
		}
	}
	return nil
}

var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// cleanBasePath returns p without a slash at its end, "" for the root.
func cleanBasePath(p string) (string, error) {
	p = strings.TrimSuffix(p, "/")
	if p != "" && !basePath.MatchString(p) {
		return "", fmt.Errorf("--base-path %q is not a path such as /lakes, of letters, digits and ._~-", p)
	}
	return p, nil
}

// checkRefresh checks the flags of refreshes, and fills in how often.
func (c *serveCmd) checkRefresh() error {
	switch {
	case len(c.Refresh.From) == 0 && c.Refresh.Every.Schedule != nil:
		return errors.New("--refresh-every needs --refresh-from: a folder or a URL")
	case len(c.Refresh.From) == 0:
		return nil
	case c.DB == "":
		return errors.New("--refresh-from needs --db: the demo is not refreshed")
	}
	if c.Refresh.Every.Schedule == nil {
		c.Refresh.Every = schedule{period(7 * day), "7d"}
	}
	return c.Refresh.check("--refresh-")
}
