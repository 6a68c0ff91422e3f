package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// A grammar has flags of all types and with all tags, on commands like those of limnomap.
type grammar struct {
	Serve struct {
		DB             Location
		Redis          Secret `check:"redis"`
		From           []Location
		Listen         string        `default:"127.0.0.1:8080" check:"address"`
		APIRate        int           `default:"300" allowed:"0.." reload:""`
		TileRate       int           `default:"6000" allowed:"0.." reload:""`
		KeyRate        int           `default:"600" allowed:"0.." reload:""`
		MaxZoom        int           `default:"18" allowed:"0..${max_zoom}"`
		Ratio          float64       `default:"0.01" allowed:"0..1"`
		Drain          time.Duration `default:"1s" allowed:"0s.." reload:""`
		Weeks          int           `default:"104" allowed:"1.."`
		StaleAfter     Period        `default:"28d" allowed:"1d.."`
		Expires        *Period       `allowed:"1s.."`
		TrustedProxies []Network     `reload:""`
		CORSOrigins    []string      `name:"cors-origins" check:"no-x" reload:""`
		FrameAncestors string        `default:"*" list:""`
		Attribution    string        `reload:""`
		Profile        string        `enum:"who2003,who2021" default:"who2003"`
		CacheMemory    ByteSize      `default:"64MiB" allowed:"1MiB.."`
		CacheMinFree   *ByteSize
		RefreshEvery   Schedule
		SkipBad        bool
	} `cmd:""`
	Warm struct {
		Style []string `enum:"heat,dots" default:"heat"`
		Scale []int    `enum:"1,2" default:"1"`
		Days  ByteSize
	} `cmd:""`
	Export struct {
		Map struct {
			File        string `arg:""`
			Style       string `enum:"heat" default:"heat"`
			Attribution string
		} `cmd:"" default:"withargs"`
	} `cmd:""`
	Keys struct {
		List struct {
			DB Location `required:""`
		} `cmd:""`
	} `cmd:""`
	Config struct {
		Command []string `arg:"" optional:""`
	} `cmd:"" passthrough:""`
	Version struct{} `cmd:""`

	ConfigFile string   `name:"config"`
	LogLevel   LogLevel `default:"info" reload:""`
}

var errNoX = errors.New("want no x")

func parse(t testing.TB, args ...string) (*grammar, *Invocation, error) {
	t.Helper()
	g := new(grammar)
	inv, err := Parse(g, args, &Options{
		Vars: kong.Vars{"max_zoom": "20"},
		Rules: map[string]func(string) error{
			"no-x": func(text string) error {
				if text == "x" {
					return errNoX
				}
				return nil
			},
			"address": func(text string) error {
				if !strings.Contains(text, ":") {
					return errors.New("want HOST:PORT")
				}
				return nil
			},
			"redis": func(string) error { return nil },
		},
		Stdout: io.Discard,
		Stderr: io.Discard,
	})
	return g, inv, err
}

// model returns the commands of the grammar and their flags.
func model(t testing.TB) *kong.Application {
	t.Helper()
	_, inv, err := parse(t, "version")
	if err != nil {
		t.Fatal(err)
	}
	return inv.Command.Model
}

func flagNamed(t testing.TB, n *kong.Node, name string) *kong.Flag {
	t.Helper()
	for _, flag := range flagsByName(n)[name] {
		return flag.Flag
	}
	t.Fatalf("there is no flag --%s", name)
	return nil
}

// writeConfig writes a configuration file and returns its name.
func writeConfig(t testing.TB, text string) string {
	t.Helper()
	return writeFile(t, filepath.Join(t.TempDir(), "limnomap.yaml"), text)
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
