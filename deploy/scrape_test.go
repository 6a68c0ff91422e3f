//go:build long

package deploy

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/api/ratelimit/quota/redistest"
	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
)

// monitoredServer starts a limnomap in which every metric has a value: it refreshes its database from a folder with a satellite
// file, forecasts, has a disk cache, shares its limits through Redis, and uses TLS.
func monitoredServer(t *testing.T) *limnomaptest.Server {
	t.Helper()
	limnomaptest.Need(t, "redis-server")
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	must(t, os.Mkdir(source, 0o755))
	limnomaptest.Run(t, "demo", "--lakes", "200", "--weeks", "104", "--until", time.Now().UTC().Format(time.DateOnly), "--out", filepath.Join(source, "lakes.csv")+","+filepath.Join(source, "obs.csv"))
	scene := satellitetest.TIFF{Width: 1, Height: 1, Floats: []float32{5}, X0: 10, Y0: 50, Step: 0.01, Unit: "mg m-3"}
	limnomaptest.WriteFile(t, source, "chl_"+time.Now().UTC().Format(time.DateOnly)+".tif", string(scene.Encode()))
	cert, key := testCertificate(t, dir)
	return limnomaptest.Start(t, "--db", filepath.Join(dir, "lakes.db"), "--refresh-from", source, "--forecast", "--redis", "redis://"+redistest.Start(t).Addr,
		"--tls-cert", cert, "--tls-key", key, "--api-rate", "60",
		"--otlp-endpoint", "http://127.0.0.1:1", "--trace-ratio", "0") // no receiver is needed for the metrics of traces
}

// testCertificate writes the certificate and key of net/http/httptest as files.
func testCertificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	pair := s.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	must(t, err)
	encode := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return limnomaptest.WriteFile(t, dir, "cert.pem", encode("CERTIFICATE", pair.Certificate[0])),
		limnomaptest.WriteFile(t, dir, "key.pem", encode("PRIVATE KEY", secret))
}

// A visitor sends requests as clients do.
type visitor struct {
	client *http.Client
	base   string
}

// visitorOf returns a visitor that keeps its connections.
func visitorOf(t testing.TB, s *limnomaptest.Server) *visitor {
	client := s.Client()
	client.Transport.(*http.Transport).DisableKeepAlives = false
	t.Cleanup(client.CloseIdleConnections)
	return &visitor{client, s.Base}
}

// visit sends requests of all kinds: new, cached, blank and unmodified tiles, vector tiles, lists, missing resources, a wrong
// key, and more requests than the limit allows.
func (v *visitor) visit(t testing.TB, round int) {
	t.Helper()
	ask := func(path string, want int, header ...string) (status int, etag string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, v.base+path, nil)
		must(t, err)
		for i := 0; i+1 < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := v.client.Do(req)
		must(t, err)
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil { // so that the connection is used again
			t.Errorf("GET %s: %v", path, err)
		}
		if want != 0 && resp.StatusCode != want {
			t.Errorf("GET %s: %s, want %d", path, resp.Status, want)
		}
		return resp.StatusCode, resp.Header.Get("ETag")
	}
	for n := range 4 {
		ask(fmt.Sprintf("/api/v1/tiles/4/%d/%d.png", (4*round+n)%16, 5), http.StatusOK)
	}
	_, etag := ask("/api/v1/tiles/2/1/1.png", http.StatusOK)
	ask("/api/v1/tiles/2/1/1.png", http.StatusNotModified, "If-None-Match", etag)
	ask("/api/v1/tiles/9/0/0.png", http.StatusOK)
	ask("/api/v1/tiles/2/1/1.mvt", http.StatusOK)
	ask("/api/v1/tiles/40/0/0.png", http.StatusNotFound)
	ask("/", http.StatusOK)
	// 60 a minute are allowed. On a busy machine some more are, since the requests take long.
	for _, path := range []string{"/api/v1/bathing-lakes/status", "/api/v1/bathing-lakes/near?lat=50&lon=10"} {
		refused := false
		for range 1000 {
			status, _ := ask(path, 0)
			if refused = status == http.StatusTooManyRequests; refused {
				break
			}
		}
		if !refused {
			t.Errorf("GET %s: none of 1000 requests was refused, want %d", path, http.StatusTooManyRequests)
		}
	}
	ask("/api/v1/monitor/lakes", 0, "X-API-Key", "wrong") // 401, then 429
}

// A prometheusServer is a Prometheus with the configuration and rules of this folder that scrapes limnomap and itself every
// second.
type prometheusServer struct{ base string }

func startPrometheus(t *testing.T, target string, flags ...string) *prometheusServer {
	t.Helper()
	limnomaptest.Need(t, "prometheus")
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := l.Addr().String()
	l.Close()
	for _, name := range []string{"prometheus.yml", "limnomap.rules.yml", "limnomap.alerts.yml"} {
		text, err := os.ReadFile(filepath.Join("prometheus", name))
		must(t, err)
		if name == "prometheus.yml" {
			for old, now := range map[string]string{"_interval: 15s": "_interval: 1s", "127.0.0.1:9091": strings.TrimPrefix(target, "http://")} {
				if !bytes.Contains(text, []byte(old)) {
					t.Fatalf("%s does not have %q", name, old)
				}
				text = bytes.ReplaceAll(text, []byte(old), []byte(now))
			}
			text = append(text, "  - job_name: prometheus\n    static_configs: [{targets: [\""+address+"\"]}]\n"...)
		}
		limnomaptest.WriteFile(t, dir, name, string(text))
	}
	log := new(limnomaptest.Log)
	cmd := exec.Command("prometheus", append([]string{"--config.file", filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address}, flags...)...)
	cmd.Stderr = log
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its data are not needed
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("prometheus says:\n%s", log)
		}
	})
	p := &prometheusServer{"http://" + address}
	limnomaptest.Within(t, patience, "Prometheus is ready", func() bool {
		resp, err := http.Get(p.base + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return p
}

// get calls the API of Prometheus and decodes the data of the answer into the value that into points to.
func (p *prometheusServer) get(path string, into any) error {
	resp, err := http.Get(p.base + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", resp.Status, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// values returns the current values of an expression. Native histograms are left out.
func (p *prometheusServer) values(expr string) ([]float64, error) {
	var data struct {
		ResultType string
		Result     []struct{ Value [2]any }
	}
	if err := p.get("/api/v1/query?query="+url.QueryEscape(expr), &data); err != nil {
		return nil, fmt.Errorf("%s: %w", expr, err)
	}
	var values []float64
	for _, sample := range data.Result {
		if text, ok := sample.Value[1].(string); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", expr, err)
			}
			values = append(values, v)
		}
	}
	return values, nil
}

// answered returns nil if the expression has values and all are numbers, or an error that says why not.
func (p *prometheusServer) answered(expr string) error {
	values, err := p.values(expr)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		return fmt.Errorf("%s: no data", expr)
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: one of %d values is %v", expr, len(values), v)
		}
	}
	return nil
}
