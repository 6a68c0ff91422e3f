package main

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oasdiff/yaml"
)

// A composition is what the tests read of compose.replicated.yaml.
type composition struct {
	Services map[string]struct {
		Environment map[string]string
		Networks    any // names, or settings by name
		Volumes     []string
		ReadOnly    bool `json:"read_only"`
	}
	Networks map[string]struct {
		IPAM struct {
			Config []struct{ Subnet netip.Prefix }
		}
	}
	Volumes map[string]any
}

func readDeploy(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readComposition(t testing.TB) (c composition) {
	t.Helper()
	if _, err := yaml.Unmarshal([]byte(readDeploy(t, "compose.replicated.yaml")), &c, yaml.DecodeOpts{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// The servers of the composition are alike, are told what limnomap knows, and believe their proxy alone.
func TestComposition(t *testing.T) {
	c := readComposition(t)
	var help bytes.Buffer
	if err := run(context.Background(), []string{"serve", "--help"}, &help, &help); err != nil {
		t.Fatal(err)
	}
	var replicas []string
	for name, service := range c.Services {
		if !strings.HasPrefix(name, "limnomap-") {
			continue
		}
		replicas = append(replicas, name)
		for variable, value := range service.Environment {
			if !strings.Contains(help.String(), "$"+variable+")") && !strings.Contains(help.String(), "$"+variable+",") {
				t.Errorf("%s: serve has no flag that %s would set", name, variable)
			}
			if first := c.Services["limnomap-1"].Environment[variable]; value != first {
				t.Errorf("%s has %s %q, limnomap-1 %q", name, variable, value, first)
			}
		}
		if !service.ReadOnly || len(service.Volumes) != 2 || !strings.HasSuffix(service.Volumes[0], ":/cache") || service.Volumes[1] != "/tmp" {
			t.Errorf("%s writes elsewhere than to its cache and /tmp, or not there: %+v", name, service)
		}
		volume, _, _ := strings.Cut(service.Volumes[0], ":")
		if _, ok := c.Volumes[volume]; !ok {
			t.Errorf("%s: there is no volume %s", name, volume)
		}
	}
	if len(replicas) != 2 {
		t.Errorf("servers %q, want two", replicas)
	}
	trusted, err := netip.ParsePrefix(c.Services["limnomap-1"].Environment["LIMNOMAP_TRUSTED_PROXIES"])
	if err != nil {
		t.Fatal(err)
	}
	nginx, _ := c.Services["nginx"].Networks.(map[string]any)
	front, _ := nginx["front"].(map[string]any)
	if addr, err := netip.ParseAddr(front["ipv4_address"].(string)); err != nil || trusted != netip.PrefixFrom(addr, 32) {
		t.Errorf("nginx is at %v, %v, and the servers trust %v", addr, err, trusted)
	}
	if subnet := c.Networks["front"].IPAM.Config[0].Subnet; !subnet.Contains(trusted.Addr()) {
		t.Errorf("nginx's address %v is not in %v", trusted.Addr(), subnet)
	}
}

// Each variable of the composition is in the example for its settings, without a password in it, and the proxy knows each
// server by its name and port.
func TestDeployAgrees(t *testing.T) {
	compose, example, nginx, docker := readDeploy(t, "compose.replicated.yaml"), readDeploy(t, "env.example"), readDeploy(t, "nginx.conf"), readDeploy(t, "Dockerfile")
	for _, m := range regexp.MustCompile(`\$\{(\w+)`).FindAllStringSubmatch(compose, -1) {
		line := regexp.MustCompile(`(?m)^` + m[1] + `=(.*)$`).FindStringSubmatch(example)
		if line == nil {
			t.Errorf("env.example does not have %s", m[1])
		} else if strings.HasSuffix(m[1], "PASSWORD") && line[1] != "" {
			t.Errorf("env.example has a value for %s", m[1])
		}
	}
	var upstreams []string
	for _, m := range upstreamServer.FindAllStringSubmatch(nginx, -1) {
		upstreams = append(upstreams, m[1])
	}
	if want := []string{"limnomap-1:8080", "limnomap-2:8080"}; !slices.Equal(upstreams, want) {
		t.Errorf("nginx passes on to %q, want %q", upstreams, want)
	}
	if !strings.Contains(docker, "LIMNOMAP_LISTEN=:8080") {
		t.Error("the image does not listen where nginx looks for it")
	}
	// It begins as an empty image, without which a refresh from a URL has no place for its file.
	if !regexp.MustCompile(`(?m)^COPY --from=build --chown=65532:65532 \S+ /tmp$`).MatchString(docker) {
		t.Error("the image has no /tmp")
	}
	module, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if !strings.Contains(docker, " golang:"+string(version[1])+" ") {
		t.Errorf("the image is not built with Go %s", version[1])
	}
}

// upstreamServer is a line of nginx.conf that names a server.
var upstreamServer = regexp.MustCompile(`(?m)^\s+server (\S+:\d+)[ ;]`)
