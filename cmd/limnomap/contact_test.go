package main

import (
	"bytes"
	"image"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

const logoSVG = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>`

func logoPNG(t testing.TB, width int) []byte {
	t.Helper()
	var b bytes.Buffer
	mustDo(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))))
	return b.Bytes()
}

// The content of a logo decides what it is. What no browser shows is refused.
func TestLogos(t *testing.T) {
	picture := logoPNG(t, 3)
	for _, tt := range []struct {
		name, content string
		svg           bool
		want          string // in the error; empty: allowed
	}{
		{"a.png", string(picture), false, ""},
		{"a.svg", logoSVG, true, ""},
		{"PNG named svg.svg", string(picture), false, ""},
		{"half a PNG.png", string(picture[:len(picture)-20]), false, "EOF"},
		{"wide.png", string(logoPNG(t, maxLogoSide+1)), false, "2049 x 1 pixels"},
		{"empty.svg", "", false, "no root element"},
		{"page.svg", `<html xmlns="http://www.w3.org/1999/xhtml"></html>`, false, "expected element type <svg> but have <html>"},
		{"without a namespace.svg", `<svg/>`, false, "name space"},
		{"open.svg", strings.TrimSuffix(logoSVG, "</svg>"), false, "unexpected EOF"},
		{"two.svg", logoSVG + logoSVG[strings.Index(logoSVG, "<svg"):], false, "a second root element, svg"},
		{"text.png", "a logo", false, "no root element"},
		{"jpeg.jpg", "\xff\xd8\xff\xe0", false, "neither PNG nor SVG"},
		{"large.svg", logoSVG + strings.Repeat(" ", maxLogoBytes), false, "longer than 100000 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			logo, err := readLogo(limnomaptest.WriteFile(t, t.TempDir(), tt.name, tt.content))
			if tt.want == "" && (err != nil || logo.SVG != tt.svg || string(logo.Content) != tt.content) {
				t.Errorf("%d bytes, SVG %t, %v, want the file, SVG %t", len(logo.Content), logo.SVG, err, tt.svg)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want an error with %q", err, tt.want)
			}
		})
	}
	if _, err := readLogo(t.TempDir()); err == nil {
		t.Error("a folder is a logo")
	}
}

func TestContactFlags(t *testing.T) {
	logo := limnomaptest.WriteFile(t, t.TempDir(), "logo.svg", logoSVG)
	for _, tt := range []struct {
		args string // separated by |
		want string // in the error; empty: allowed
	}{
		{"--contact-name=Gesundheitsamt <Süd>|--contact-url=https://example.org/a?b=c#d|--contact-logo=" + logo, ""},
		{"--contact-name=" + strings.Repeat("ä", 200) + "|--contact-url=mailto:lakes@example.org?subject=Lake", ""},
		{"--imprint-url=https://example.org/imprint|--privacy-url=http://example.org/|--accessibility-url=https://example.org/a11y", ""},
		{"--imprint-url=mailto:lakes@example.org", "--imprint-url:"},
		{"--privacy-url=/privacy", "--privacy-url:"},
		{"--accessibility-url=javascript:alert(1)", "--accessibility-url:"},
		{"--contact-name=A|--contact-url=tel:+49-30-(123).4567", ""},
		{"--contact-name=A|--contact-url=http://10.0.0.1:8080/", ""},
		{"--contact-name=" + strings.Repeat("ä", 201), "at most 200 characters"},
		{"--contact-name=A\nB", "one line"},
		{"--contact-name= ", "without spaces"},
		{"--contact-url=https://example.org", "need --contact-name"},
		{"--contact-logo=" + logo, "need --contact-name"},
		{"--contact-name=A|--contact-logo=" + filepath.Join(filepath.Dir(logo), "absent.png"), "--contact-logo: stat"},
		{"--contact-name=A|--contact-url=javascript:alert(1)", "--contact-url:"},
		{"--contact-name=A|--contact-url=example.org", "--contact-url:"},
		{"--contact-name=A|--contact-url=/contact", "--contact-url:"},
		{"--contact-name=A|--contact-url=https:///contact", "--contact-url:"},
		{"--contact-name=A|--contact-url=https://user:word@example.org", "--contact-url:"},
		{"--contact-name=A|--contact-url=mailto:nobody", "--contact-url:"},
		{"--contact-name=A|--contact-url=tel:", "--contact-url:"},
		{"--contact-name=A|--contact-url=tel:0800-LAKES", "--contact-url:"},
		{"--contact-name=A|--contact-url=https://example.org/" + strings.Repeat("a", 500), "--contact-url:"},
	} {
		_, _, err := runCommand(t, append([]string{"config"}, strings.Split(tt.args, "|")...)...)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%q: %v, want an error with %q", tt.args, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "word@") {
			t.Errorf("%v shows a password", err)
		}
	}
}

// A reload reads the logo again.
func TestContactIsReadAgain(t *testing.T) {
	logo := limnomaptest.WriteFile(t, t.TempDir(), "logo", logoSVG)
	inv, err := parsed(t, "serve", "--contact-name=Office", "--contact-logo="+logo)
	mustDo(t, err)
	for _, want := range []bool{true, false} {
		opts, err := inv.cli.Serve.adjustable(slog.LevelInfo)
		if err != nil || opts.Contact.Name != "Office" || opts.Contact.Logo.SVG != want {
			t.Errorf("the contact is %q with a logo, SVG %t, %v, want Office and %t", opts.Contact.Name, opts.Contact.Logo.SVG, err, want)
		}
		mustDo(t, os.WriteFile(logo, logoPNG(t, 2), 0o600))
	}
}

func FuzzContact(f *testing.F) {
	for _, seed := range []string{"https://example.org", "mailto:a@b", "tel:+1", "javascript:alert(1)", "data:text/html,x", logoSVG, "\x89PNG\r\n\x1a\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if scheme, _, _ := strings.Cut(text, ":"); checkContactURL(text) == nil && !strings.Contains(" https http mailto tel ", " "+strings.ToLower(scheme)+" ") {
			t.Errorf("the address %q is allowed", text)
		}
		if logo, err := logoOf([]byte(text)); err == nil && logo.SVG == strings.HasPrefix(text, "\x89PNG") {
			t.Errorf("%q: SVG %t", text, logo.SVG)
		}
	})
}
