package deploy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

const (
	parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentSpan  = "00f067aa0ba902b7"
	secret      = "s3cret-unknown-key"
)

// A receiver takes traces by OTLP over HTTP, as the OpenTelemetry Collector does: there is none in Debian.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex // guards what follows
	raw      []byte     // all that came, decompressed
	resource map[string]string
	spans    []span
	faults   []string
}

// A span has the fields that the tests check.
type span struct {
	trace, id, parent, name string
	kind                    otlp.Span_SpanKind
	status                  otlp.Status_StatusCode
	begin, end              uint64 // ns since 1970
	attributes              map[string]string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{resource: make(map[string]string)}
	r.Server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fault := func(format string, args ...any) {
		r.faults = append(r.faults, fmt.Sprintf(format, args...))
		w.WriteHeader(http.StatusBadRequest)
	}
	if req.Method != http.MethodPost || req.URL.Path != "/tempo/v1/traces" || req.Header.Get("Content-Type") != "application/x-protobuf" {
		fault("%s %s of %s", req.Method, req.URL, req.Header.Get("Content-Type"))
		return
	}
	if got := req.Header.Get("X-Tenant"); got != "lakes" {
		fault("X-Tenant is %q: OTEL_EXPORTER_OTLP_HEADERS says lakes", got)
		return
	}
	body := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			fault("%v", err)
			return
		}
		body = unzipped
	}
	raw, err := io.ReadAll(io.LimitReader(body, 16<<20))
	var export otlp.TracesData // the same encoding as ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &export)
	}
	if err != nil {
		fault("%v", err)
		return
	}
	r.raw = append(r.raw, raw...)
	for _, of := range export.ResourceSpans {
		addTexts(r.resource, of.Resource.Attributes)
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				r.spans = append(r.spans, spanOf(s))
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf") // of an empty message
}

func spanOf(s *otlp.Span) span {
	attributes := make(map[string]string)
	addTexts(attributes, s.Attributes)
	return span{
		trace: fmt.Sprintf("%x", s.TraceId), id: fmt.Sprintf("%x", s.SpanId), parent: fmt.Sprintf("%x", s.ParentSpanId),
		name: s.Name, kind: s.Kind, status: s.GetStatus().GetCode(), begin: s.StartTimeUnixNano, end: s.EndTimeUnixNano, attributes: attributes,
	}
}

func addTexts(to map[string]string, attributes []*common.KeyValue) {
	for _, a := range attributes {
		switch v := a.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			to[a.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			to[a.Key] = fmt.Sprint(v.IntValue)
		}
	}
}

// find returns the spans for which keep holds, the first begun first.
func (r *receiver) find(keep func(span) bool) []span {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []span
	for _, s := range r.spans {
		if keep(s) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b span) int { return int(int64(a.begin) - int64(b.begin)) })
	return found
}

// trace returns the spans of one trace, once a span of that name, which ends last, is among them.
func (r *receiver) trace(t *testing.T, id, last string) []span {
	t.Helper()
	of := func(s span) bool { return s.trace == id }
	limnomaptest.Within(t, patience, last+" of trace "+id+" comes", func() bool {
		return slices.ContainsFunc(r.find(of), func(s span) bool { return s.name == last })
	})
	return r.find(of)
}

// tree writes spans as an indented tree, with the tier after each tile.
func tree(spans []span, parent, indent string) string {
	var b strings.Builder
	for _, s := range spans {
		if s.parent == parent {
			b.WriteString(strings.TrimRight(indent+s.name+" "+s.attributes["limnomap.tile.tier"], " ") + "\n")
			b.WriteString(tree(spans, s.id, indent+"  "))
		}
	}
	return b.String()
}

// traceparent returns the ID of a trace, and the traceparent header of a caller that traces its request.
func traceparent(n int, flags string) (id, field string) {
	id = fmt.Sprintf("%s%02x", parentTrace[:30], n)
	return id, "00-" + id + "-" + parentSpan + "-" + flags
}

// startTraced starts a server with variables of OpenTelemetry.
func startTraced(t *testing.T, env []string, args ...string) *limnomaptest.Server {
	t.Helper()
	s := limnomaptest.LaunchWithEnv(t, env, args...)
	s.AwaitReady(t)
	return s
}

func TestTraces(t *testing.T) {
	t.Parallel()
	env := []string{
		"OTEL_BSP_SCHEDULE_DELAY=50", // ms; the default is 5 s
		"OTEL_EXPORTER_OTLP_HEADERS=X-Tenant=lakes",
		"OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test",
	}
	r := newReceiver(t)
	data := t.TempDir()
	limnomaptest.WriteFile(t, data, "lakes.csv", "id,name,lat,lon\nhidden_mere,Hidden Mere,52.5,13.4\n")
	rows := "lake_id,date,chl,data_type\n"
	for week := range 300 { // many more than are in memory or read ahead, so that older ones come from the database
		rows += "hidden_mere," + time.Date(2021, 1, 4+7*week, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) + ",12.5,satellite\n"
	}
	limnomaptest.WriteFile(t, data, "obs.csv", rows)
	cache := t.TempDir()
	args := []string{"--db", filepath.Join(t.TempDir(), "lakes.db"), "--cache-dir", cache, "--weeks", "1", "--otlp-endpoint", r.URL + "/tempo/"}
	server := startTraced(t, env, append(args, "--trace-ratio", "1", "--trusted-proxies", "127.0.0.0/8", "--log-format", "json", "--refresh-from", data)...)
	limnomaptest.Within(t, patience, "the refresh is served", func() bool {
		var status limnomaptest.Status
		limnomaptest.GetJSON(t, server.Base+"/api/v1/bathing-lakes/status", &status)
		return status.TotalLakes == 1
	})

	for i, test := range []struct{ path, last, want string }{
		{"/api/v1/tiles/5/17/10.png", "GET tile", "GET tile\n  tile render\n    tile queue\n    tile lookup\n    tile render\n"},
		{"/api/v1/tiles/5/17/10.png", "GET tile", "GET tile\n  tile memory\n"},
		{"/api/v1/tiles/5/3/3.png", "GET tile", "GET tile\n  tile blank\n    tile queue\n"},
		{"/api/v1/tiles/5/17/10.mvt", "GET vector", "GET vector\n  tile render\n    tile queue\n    tile lookup\n    tile render\n"},
		{"/api/v1/bathing-lakes/history/hidden_mere?key=" + secret, "GET history", "GET history\n  store history\n"},
		{"/api/v1/monitor/lakes", "GET monitor", "GET monitor\n"},
		{"/hidden_mere", "GET not_found", "GET not_found\n"},
	} {
		id, field := traceparent(i, "01")
		resp, _ := limnomaptest.Get(t, server.Base+test.path, "Traceparent", field, "X-API-Key", secret, "X-Request-Id", fmt.Sprint("request-", i))
		spans := r.trace(t, id, test.last)
		if got := tree(spans, parentSpan, ""); got != test.want {
			t.Errorf("%s is traced as\n%swant\n%s", test.path, got, test.want)
		}
		root := spans[slices.IndexFunc(spans, func(s span) bool { return s.name == test.last })]
		if got := root.attributes["http.response.status_code"]; got != fmt.Sprint(resp.StatusCode) || root.kind != otlp.Span_SPAN_KIND_SERVER ||
			root.attributes["http.request.method"] != "GET" || "GET "+root.attributes["limnomap.route"] != root.name {
			t.Errorf("%s: %s, its span %+v", test.path, resp.Status, root)
		}
		for _, s := range spans {
			if s.begin < root.begin || s.end < s.begin || s.status == otlp.Status_STATUS_CODE_ERROR {
				t.Errorf("%s: span %+v, in %+v", test.path, s, root)
			}
		}
		logged, line := regexp.MustCompile(`(?m)^.*"request_id":"request-`+fmt.Sprint(i)+`".*\n`), ""
		limnomaptest.Within(t, patience, test.path+" is logged", func() bool { // after the client has the answer
			line = logged.FindString(server.Log.String())
			return line != ""
		})
		if !strings.Contains(line, `"trace_id":"`+id+`"`) {
			t.Errorf("%s: the log says %s, want the id of the trace", test.path, line)
		}
	}
	if got := r.find(func(s span) bool { return s.attributes["http.route"] == "/api/v1/bathing-lakes/history/{lake_id}" }); len(got) != 1 {
		t.Errorf("%d spans have the pattern of history for their route, want 1", len(got))
	}

	// Traces without a request: a refresh, reading the snapshot, and the map of an older week.
	limnomaptest.Get(t, server.Base+"/api/v1/tiles/5/17/10.png?date=2021-01-05")
	for _, name := range []string{"refresh", "store scan", "store past", "store forecasts"} {
		limnomaptest.Within(t, patience, name+" is traced", func() bool {
			return len(r.find(func(s span) bool { return s.name == name && s.parent == "" })) > 0
		})
	}
	// A caller that does not trace, and a health check.
	unsampled, field := traceparent(99, "00")
	limnomaptest.Get(t, server.Base+"/api/v1/styles", "Traceparent", field)
	healthy, field := traceparent(98, "01")
	limnomaptest.Get(t, server.Base+"/healthz", "Traceparent", field)
	server.Stop(t) // sends the remaining spans
	if got := r.find(func(s span) bool { return s.trace == unsampled || s.trace == healthy }); len(got) != 0 {
		t.Errorf("spans %+v, want none of these requests", got)
	}

	// Another server: a tile from disk, and a client whose traceparent it does not trust.
	another := startTraced(t, env, append(args, "--trace-ratio", "1")...)
	foreign, field := traceparent(97, "01")
	limnomaptest.Get(t, another.Base+"/api/v1/tiles/5/17/10.png", "Traceparent", field)
	another.Stop(t)
	disk := r.find(func(s span) bool { return s.attributes["limnomap.tile.tier"] == "disk" })
	if len(disk) != 1 || disk[0].trace == foreign {
		t.Errorf("spans of tiles from disk: %+v, want one, in a new trace", disk)
	}
	never := startTraced(t, env, append(args, "--trace-ratio", "0")...)
	limnomaptest.Get(t, never.Base+"/api/v1/styles", "Traceparent", field)
	never.Stop(t)
	if got := r.find(func(s span) bool { return s.trace == foreign || s.name == "GET styles" }); len(got) != 0 {
		t.Errorf("spans %+v of an untrusted client", got)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	for _, fault := range r.faults {
		t.Error(fault)
	}
	if r.resource["service.name"] != "limnomap" || r.resource["service.version"] == "" || r.resource["deployment.environment.name"] != "test" {
		t.Errorf("the resource is %v", r.resource)
	}
	for _, private := range []string{secret, "hidden_mere", "Hidden Mere", data, "request-", "127.0.0.1"} {
		if bytes.Contains(r.raw, []byte(private)) {
			t.Errorf("the traces contain %q", private)
		}
	}
}

// The log reports invalid headers in its own format, without their content.
func TestTraceHeadersStaySecret(t *testing.T) {
	t.Parallel()
	env := []string{"OTEL_EXPORTER_OTLP_HEADERS=Authorization Basic " + secret + ",X-Key=%zz" + secret + ",bad name=" + secret}
	server := startTraced(t, env, "--otlp-endpoint", "http://127.0.0.1:1", "--trace-ratio", "0", "--log-format", "json")
	server.Stop(t)
	said := 0
	for line := range strings.Lines(server.Log.String()) {
		switch {
		case !strings.HasPrefix(line, "{"):
			t.Errorf("the log has a line that is not JSON: %s", line)
		case strings.Contains(line, secret):
			t.Errorf("the log shows a header: %s", line)
		case strings.Contains(line, "OTEL_"):
			said++
		}
	}
	if said != 3 {
		t.Errorf("the log reports %d invalid headers, want 3\n%s", said, server.Log)
	}
}

// The server works and stops normally if the receiver is down, refuses or hangs.
func TestTracesCannotBeSent(t *testing.T) {
	t.Parallel()
	// The timeouts are longer than a server may take to stop, so the server itself must limit that time.
	env := []string{"OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_EXPORTER_OTLP_TIMEOUT=600000", "OTEL_BSP_EXPORT_TIMEOUT=600000"}
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // connections are never accepted
	must(t, err)
	t.Cleanup(func() { hanging.Close() })
	refusing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(refusing.Close)
	for _, test := range testsize.Cases(1, []struct {
		name, endpoint string
		failures       bool // failures are counted before the server stops
	}{
		{"away", "http://127.0.0.1:1", true},
		{"refusing", refusing.URL, true},
		{"hanging", "http://" + hanging.Addr().String(), false},
	}) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := startTraced(t, env, "--otlp-endpoint", test.endpoint, "--trace-ratio", "1")
			metric := func(name string) string {
				_, text := limnomaptest.Get(t, server.Admin+"/metrics")
				return regexp.MustCompile(`(?m)^limnomap_` + name + ` (.*)$`).FindString(string(text))
			}
			for range 20 {
				if resp, _ := limnomaptest.Get(t, server.Base+"/api/v1/tiles/6/33/21.png"); resp.StatusCode != http.StatusOK {
					t.Fatalf("a tile is answered %s", resp.Status)
				}
			}
			if test.failures {
				for seen := 0; seen < 2; seen++ { // failures in a row are logged once
					before := metric("trace_export_failures_total")
					limnomaptest.Get(t, server.Base+"/api/v1/styles")
					limnomaptest.Within(t, patience, "a failure is counted", func() bool { return metric("trace_export_failures_total") != before })
				}
				if n := strings.Count(server.Log.String(), "cannot send traces"); n != 1 {
					t.Errorf("the log says %d times that traces cannot be sent, want once\n%s", n, server.Log)
				}
			}
			if got := metric("trace_spans_exported_total"); got != "limnomap_trace_spans_exported_total 0" {
				t.Errorf("%q, want none", got)
			}
			server.Stop(t)
		})
	}
}
