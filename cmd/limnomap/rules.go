package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"limnomap/api"
	"limnomap/api/middleware"
	"limnomap/api/ratelimit/quota"
	"limnomap/cmd/limnomap/config"
	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/ingest"
	"limnomap/data/snapshot"
)

// rules are the rules that the tag check of a flag may name: what one value must look like.
var rules = map[string]func(string) error{
	"address":        checkAddress,
	"as-of":          func(text string) error { _, err := snapshot.ParseAsOf(text); return err },
	"base-path":      func(text string) error { return api.CheckBasePath(cleanBasePath(text)) },
	"basemap-url":    checkBasemapURL,
	"contact-name":   checkContactName,
	"contact-url":    checkContactURL,
	"decimal-mark":   func(text string) error { return ingest.CheckMarks(text, "") },
	"thousands-mark": func(text string) error { return ingest.CheckMarks("", text) },
	"end":            checkEnd,
	"encoding":       func(text string) error { return ingest.TableFormat{Encoding: text}.Check() },
	"date-order":     func(text string) error { return ingest.TableFormat{DateOrder: text}.Check() },
	"date":           func(text string) error { _, err := data.ParseDate(text); return err },
	"host-name":      checkHostName,
	"key-name":       checkKeyName,
	"origin":         func(text string) error { _, err := canonicalOrigin(text); return err },
	"otlp-endpoint":  func(text string) error { _, err := traceEndpoint(text); return err },
	"page-url":       checkPageURL,
	"public-url":     func(text string) error { _, err := parsePublicURL(text); return err },
	"redis":          quota.Check,
	"whole-days":     checkWholeDays,
}

// checkAddress checks the form of an address. Whether it is free shows when the server listens.
func checkAddress(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil && port != "" {
		_, err = net.LookupPort("tcp", port) // without the network
	}
	if err != nil || port == "" {
		return fmt.Errorf("%q is not HOST:PORT, or :PORT for all addresses, with a port from 0 (any free one) to 65535", text)
	}
	return nil
}

// cleanBasePath returns a base path without the slash at its end, "" for the root.
func cleanBasePath(p string) string { return strings.TrimSuffix(p, "/") }

// noBasemap is the value of --basemap-url for a page without a basemap, and of --basemap-labels-url for one without a layer of labels.
const noBasemap = "none"

func checkBasemapURL(text string) error {
	if text == noBasemap {
		return nil
	}
	if !strings.Contains(text, "{z}") || !strings.Contains(text, "{x}") || !strings.Contains(text, "{y}") {
		return fmt.Errorf("%q: want an address with {z}, {x} and {y}, or %s", config.Redact(text), noBasemap)
	}
	// Leaflet fails on most others, and the page with it.
	filled := strings.NewReplacer("{z}", "", "{x}", "", "{y}", "", "{s}", "", "{r}", "").Replace(text)
	if i := strings.IndexAny(filled, "{}"); i >= 0 {
		return fmt.Errorf("%q has %.32q, which nothing fills in: want {z}, {x}, {y}, and perhaps {s} for a subdomain and {r} for tiles of double resolution", config.Redact(text), config.Redact(filled[i:]))
	}
	_, err := middleware.BasemapOrigin(text)
	if err != nil {
		return errors.New(config.Redact(err.Error())) // it repeats the address, which may hold a password
	}
	return nil
}

func checkKeyName(text string) error {
	if !apikey.ValidName(text) {
		return fmt.Errorf("%q: want 1 to 64 letters, digits, spaces and _.@- that begin with a letter or a digit", text)
	}
	return nil
}

// checkHostName checks a name as in the Host field of a request, without a port.
func checkHostName(text string) error {
	if text == "" || strings.ContainsAny(text, "/:@*[] ") {
		return fmt.Errorf("%q is not a host name such as metrics.example.org, without a port", text)
	}
	return nil
}

// canonicalOrigin returns an origin as browsers send it, or *.
func canonicalOrigin(text string) (string, error) {
	if text == "*" {
		return text, nil
	}
	scheme, host, _ := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	var err error
	switch u, parseErr := url.Parse(text); {
	case scheme == "http" || scheme == "https":
		const any = "any-name" // stands for the one * that may be in a host
		host, err = middleware.CanonicalHost(scheme, strings.Replace(host, "*", any, 1))
		host = strings.Replace(host, any, "*", 1)
	case parseErr != nil || u.Host == "" || text != u.Scheme+"://"+u.Host: // of an app, such as capacitor://localhost
		err = errors.New("want a scheme and a host")
	}
	if err != nil {
		return "", errors.New(config.Redact(fmt.Sprintf("%q is not an origin such as https://maps.example.org, or *: %v", text, err)))
	}
	return scheme + "://" + host, nil
}

func parsePublicURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is not http(s)://HOST[:PORT][/PATH]", config.Redact(text))
	}
	if u.Host, err = middleware.CanonicalHost(u.Scheme, u.Host); err != nil {
		return nil, errors.New(config.Redact(fmt.Sprintf("%q: %v", text, err)))
	}
	return u, nil
}

func checkWholeDays(text string) error {
	var p config.Period
	if err := p.UnmarshalText([]byte(text)); err != nil {
		return err
	}
	if time.Duration(p)%config.Day != 0 {
		return errors.New(text + " is not a whole number of days")
	}
	return nil
}
