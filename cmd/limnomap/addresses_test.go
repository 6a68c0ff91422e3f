package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"limnomap/api/ogc"
)

// Without --public-url, documents of a server have absolute addresses for a client that uses the address that the server listens
// on, and the tiles at these addresses exist. With another Host the addresses have no host.
func TestAddressesWithoutPublicURL(t *testing.T) {
	cert, key := newPair(t, 1, nextYear())
	certFile, keyFile := pairFiles(t, t.TempDir(), cert, key)
	for _, test := range []struct {
		name    string
		clients []*http.Client
		args    []string
	}{
		{"http", []*http.Client{clientOf(t, http1), clientOf(t, h2c)}, nil},
		{"https", []*http.Client{clientOf(t, http1), clientOf(t, http2)}, []string{"--tls-cert", certFile, "--tls-key", keyFile}},
		{"base path", []*http.Client{clientOf(t, http1)}, []string{"--base-path", "/lakes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, _ := startServerFor(t, test.clients[0], test.args...)
			prefix := ""
			if slices.Contains(test.args, "/lakes") {
				prefix = "/lakes"
			}
			origin := strings.TrimSuffix(base, prefix)
			port := origin[strings.LastIndexByte(origin, ':'):]
			for _, client := range test.clients {
				local := strings.Replace(base, "127.0.0.1", "localhost", 1)
				for host, want := range map[string]string{
					"":                         base,
					"localhost" + port:         local,
					"lakes.example.org" + port: prefix,
					"127.0.0.1:1":              prefix,
				} {
					wantAddresses(t, client, base, host, want)
				}
				for _, field := range []string{"X-Forwarded-For", "Via"} {
					_, body := getFrom(t, client, base+"/api/v1/tiles.json", "", field, "192.0.2.1")
					if bytes.Contains(body, []byte(origin)) {
						t.Errorf("tiles.json for a proxy that sends %s names %s: %.300s", field, origin, body)
					}
				}
			}
		})
	}
}

// wantAddresses checks that the addresses in the documents of the server at base begin with want for a request with that Host, its
// own if empty, and that tiles at these addresses can be fetched.
func wantAddresses(t *testing.T, client *http.Client, base, host, want string) {
	t.Helper()
	fill := strings.NewReplacer("{z}", "6", "{x}", "33", "{y}", "21",
		"{I}", "1", "{J}", "1", "{Style}", "heat", "{Time}", "current", "{TileMatrix}", "6", "{TileCol}", "33", "{TileRow}", "21",
		"{tileMatrix}", "6", "{tileCol}", "33", "{tileRow}", "21")
	fetch := func(address, mediaType string) []byte {
		t.Helper()
		rest, ok := strings.CutPrefix(address, want+"/")
		if !ok {
			t.Fatalf("for the host %q: address %q, want one that begins with %s/", host, address, want)
		}
		if want != base && !strings.Contains(want, "localhost") { // it has no host
			address = base + "/" + rest
		}
		resp, body := getFrom(t, client, fill.Replace(address), host)
		if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != mediaType && got != mediaType+"; charset=utf-8" {
			t.Errorf("%s: %s, %s, want %s", address, resp.Status, got, mediaType)
		}
		return body
	}
	document := func(path string, into any, read func([]byte, any) error) {
		t.Helper()
		resp, body := getFrom(t, client, base+path, host)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s with the host %q: %s", path, host, resp.Status)
		}
		if private := strings.HasPrefix(resp.Header.Get("Cache-Control"), "private"); private != strings.Contains(want, "://") {
			t.Errorf("%s with the host %q: Cache-Control %q", path, host, resp.Header.Get("Cache-Control"))
		}
		if err := read(body, into); err != nil {
			t.Fatalf("%s: %v: %.300s", path, err, body)
		}
	}

	for path, mediaType := range map[string]string{"/api/v1/tiles.json": "image/png", "/api/v1/tiles/vector.json": ogc.TypeVector} {
		var tileJSON struct {
			Tiles  []string
			Legend string `json:"legend_url"`
		}
		document(path, &tileJSON, json.Unmarshal)
		fetch(tileJSON.Tiles[0], mediaType)
		fetch(tileJSON.Legend, "image/svg+xml")
	}
	var capabilities struct {
		Resources []struct {
			Format   string `xml:"format,attr"`
			Template string `xml:"template,attr"`
		} `xml:"Contents>Layer>ResourceURL"`
	}
	document("/wmts/1.0.0/WMTSCapabilities.xml", &capabilities, xml.Unmarshal)
	for _, r := range capabilities.Resources {
		fetch(r.Template, r.Format)
	}

	// From the landing page by links to a tile.
	type links struct{ Links []struct{ Rel, Href string } }
	follow := func(l links, rel string) string {
		t.Helper()
		for _, link := range l.Links {
			if link.Rel == rel {
				return link.Href
			}
		}
		t.Fatalf("no link %s in %v", rel, l)
		return ""
	}
	var landing, set links
	var sets struct{ Tilesets []links }
	document("/ogc/", &landing, json.Unmarshal)
	body := fetch(follow(landing, "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map"), "application/json")
	if err := json.Unmarshal(body, &sets); err != nil || len(sets.Tilesets) != 1 {
		t.Fatalf("tilesets: %v: %.300s", err, body)
	}
	body = fetch(follow(sets.Tilesets[0], "self"), "application/json")
	mustDo(t, json.Unmarshal(body, &set))
	fetch(follow(set, "item"), "image/png")
}

// getFrom requests url with that Host, that of the URL if empty, and that header.
func getFrom(t *testing.T, client *http.Client, url, host string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	mustDo(t, err)
	r.Host = host
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(r)
	mustDo(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	mustDo(t, err)
	return resp, body
}
