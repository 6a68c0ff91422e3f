package sign

import (
	"testing"

	"limnomap/api/words/wordstest"
)

func TestNoWordIsMissing(t *testing.T) {
	wordstest.NoneMissing[ownWords](t, "../../web", "sign")
}

// A QR code that leads to the reader's own machine would hang for weeks and lead nowhere.
func TestKnown(t *testing.T) {
	for address, want := range map[string]bool{
		"https://lakes.example.org/lakes/a": true, "http://10.0.0.1:8080/lakes/a": true, "https://[2001:db8::1]/lakes/a": true,
		"/lakes/a": false, "": false, "http://127.0.0.1:8080/lakes/a": false, "http://[::1]/lakes/a": false, "http://localhost:8080/lakes/a": false, "http://0.0.0.0/a": false,
	} {
		if got := known(address); got != want {
			t.Errorf("known(%q) = %t, want %t", address, got, want)
		}
	}
}

func TestAddressInLetters(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/": "example.org", "http://a:8080/lakes/b": "a:8080/lakes/b", "mailto:a@b.de": "a@b.de", "tel:+49-30": "+49-30", "": "",
	} {
		if got := addressInLetters(address); got != want {
			t.Errorf("addressInLetters(%q) = %q, want %q", address, got, want)
		}
	}
}
