package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"limnomap/api/middleware"
)

// protobufAccepted is what a Prometheus with native histograms sends.
const protobufAccepted = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited," +
	"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"

// exposed returns our histograms in the answer of /metrics to a client that accepts those formats.
func exposed(t *testing.T, s http.Handler, accept string) (format expfmt.Format, histograms map[string]*dto.MetricFamily) {
	t.Helper()
	w := get(t, s, http.StatusOK, "/metrics", "Accept", accept)
	format = expfmt.ResponseFormat(w.Result().Header)
	decoder := expfmt.NewDecoder(bytes.NewReader(w.Body.Bytes()), format)
	histograms = make(map[string]*dto.MetricFamily)
	for {
		family := new(dto.MetricFamily)
		if err := decoder.Decode(family); errors.Is(err, io.EOF) {
			return format, histograms
		} else if err != nil {
			t.Fatalf("Accept %q: %v", accept, err)
		}
		if family.GetType() == dto.MetricType_HISTOGRAM && strings.HasPrefix(family.GetName(), "limnomap_") {
			histograms[family.GetName()] = family
		}
	}
}

// A client that asks for protobuf gets each histogram as a native one too, with no more buckets than allowed. Other clients
// get text.
func TestExpositionFormats(t *testing.T) {
	opts := testOptions(t)
	at := testNow()
	step := time.Microsecond
	opts.Now = func() time.Time { at = at.Add(step); return at }
	s := newServer(t, opts, testSource(t))
	const requests = 3000
	for range requests {
		step += step/150 + time.Nanosecond // from a microsecond to minutes: more buckets than allowed
		get(t, s, http.StatusOK, "/healthz")
	}
	format, native := exposed(t, s, protobufAccepted)
	if format.FormatType() != expfmt.TypeProtoDelim {
		t.Errorf("the format is %q, want protobuf", format)
	}
	if len(native) == 0 {
		t.Error("there are no histograms")
	}
	for name, family := range native {
		for _, m := range family.GetMetric() {
			h := m.GetHistogram()
			// Without an observation the threshold shows that the histogram is native.
			buckets := len(h.GetPositiveDelta())
			if h.GetZeroThreshold() == 0 || (buckets == 0) != (h.GetSampleCount() == 0) || buckets > middleware.NativeBuckets || len(h.GetBucket()) < 10 {
				t.Errorf("%s %v: %d observations, %d native buckets above %v, and %d classic ones; want up to %d above a threshold, and at least 10",
					name, m.GetLabel(), h.GetSampleCount(), buckets, h.GetZeroThreshold(), len(h.GetBucket()), middleware.NativeBuckets)
			}
			if m.GetLabel()[0].GetValue() == "healthz" && (h.GetSampleCount() != requests || buckets < middleware.NativeBuckets/4) {
				t.Errorf("%s of /healthz: %d observations in %d native buckets, want %d in at least %d", name, h.GetSampleCount(), buckets, requests, middleware.NativeBuckets/4)
			}
		}
	}
	for _, accept := range []string{"", "*/*", "text/plain;version=0.0.4"} {
		format, classic := exposed(t, s, accept)
		if format.FormatType() != expfmt.TypeTextPlain {
			t.Errorf("Accept %q: the format is %q, want text", accept, format)
		}
		if len(classic) != len(native) {
			t.Errorf("Accept %q: %d histograms in the text, %d in protobuf", accept, len(classic), len(native))
		}
	}
}
