package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// Any text is printed as one line of YAML that has the same value.
func TestTextsAsYAML(t *testing.T) {
	serve := subcommand(model(t).Node, "serve")
	attribution, origins := flagNamed(t, serve, "attribution"), flagNamed(t, serve, "cors-origins")
	awkward := []string{"", "yes", "null", "3", "# no: comment", "a, b", "'", `"`, `\`, "Müggelsee © 2026 – ‘x’", " a ", "line\nline", "\t", "- a", "[a]", "*a", "&a",
		"!a", "~", "0x10", "1e3", "2026-01-01", "%", "@", "`", "=", "a: b", "{", "\u2028", "\x00", "\ufeff", "e\u0301", "😀", "true", "|", ">", "? a", "---", "..."}
	texts := rapid.OneOf(rapid.SampledFrom(awkward), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(texts, 0, 4).Draw(t, "texts")
		for flag, want := range map[*kong.Flag][]string{attribution: {strings.Join(want, "")}, origins: want} {
			items := make([]*yaml.Node, len(want))
			for i, text := range want {
				items[i] = scalarOf(flag, text)
			}
			line, err := yamlOf(flag, items)
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(line, "\r\n") {
				t.Fatalf("%q is written in several lines: %q", want, line)
			}
			var document yaml.Node
			if err := yaml.Unmarshal([]byte("key: "+line+" # comment\n"), &document); err != nil {
				t.Fatalf("%q is written as %q: %v", want, line, err)
			}
			decoded, err := decodeValue(flag, document.Content[0].Content[1])
			if err != nil {
				t.Fatalf("%q is written as %q: %v", want, line, err)
			}
			got := []string{fmt.Sprint(decoded)}
			if list, ok := decoded.([]any); ok {
				got = nil
				for _, item := range list {
					got = append(got, item.(string))
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q is written as %q and read as %q", want, line, got)
			}
		}
	})
}

func TestSizesAndPeriods(t *testing.T) {
	sizes := []struct {
		in   string
		want ByteSize
		ok   bool
	}{
		{"64MiB", 64 << 20, true}, {"1GiB", 1 << 30, true}, {"1.5 kB", 1500, true}, {"0", 0, true}, {"4096", 4096, true}, {"12B", 12, true},
		{"", 0, false}, {"-1", 0, false}, {"NaN", 0, false}, {"1e300GiB", 0, false}, {"MiB", 0, false}, {"5XB", 0, false},
	}
	for _, tt := range sizes {
		var s ByteSize
		if err := s.UnmarshalText([]byte(tt.in)); (err == nil) != tt.ok || s != tt.want {
			t.Errorf("size %q = %d, %v; want %d, ok %v", tt.in, s, err, tt.want, tt.ok)
		}
	}
	periods := []struct {
		in   string
		want time.Duration
		ok   bool
	}{
		{"28d", 28 * Day, true}, {"36h", 36 * time.Hour, true}, {"0", 0, true},
		{"-1d", 0, false}, {"99999999d", 0, false}, {"d", 0, false}, {"-3h", 0, false}, {"1.5d", 0, false}, {"soon", 0, false},
	}
	for _, tt := range periods {
		var p Period
		if err := p.UnmarshalText([]byte(tt.in)); (err == nil) != tt.ok || time.Duration(p) != tt.want {
			t.Errorf("period %q = %v, %v; want %v, ok %v", tt.in, time.Duration(p), err, tt.want, tt.ok)
		}
	}
}

func TestSizesAndPeriodsAreWrittenAsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := ByteSize(rapid.Int64Range(0, 1<<52).Draw(t, "bytes"))
		text, _ := size.MarshalText()
		var size2 ByteSize
		if err := size2.UnmarshalText(text); err != nil || size2 != size {
			t.Errorf("%d is written as %q and read as %d, %v", size, text, size2, err)
		}
		p := Period(rapid.Int64Range(0, int64(36500*Day)).Draw(t, "period"))
		text, _ = p.MarshalText()
		var p2 Period
		if err := p2.UnmarshalText(text); err != nil || p2 != p {
			t.Errorf("%d is written as %q and read as %d, %v", p, text, p2, err)
		}
	})
}

// A network of IPv4 addresses may be written in IPv6 form.
func TestNetwork(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"10.0.0.0/8", "10.0.0.0/8"},
		{"fd00::/8", "fd00::/8"},
		{"::ffff:10.0.0.0/104", "10.0.0.0/8"},
		{"::ffff:10.0.0.1/128", "10.0.0.1/32"},
		{"::/0", "::/0"},
	} {
		var n Network
		if err := n.UnmarshalText([]byte(test.text)); err != nil || n.String() != test.want {
			t.Errorf("network %s = %s, %v, want %s", test.text, n, err, test.want)
		}
	}
	var n Network
	if err := n.UnmarshalText([]byte("10.0.0.0")); err == nil {
		t.Error("a network without a length is accepted")
	}
}
