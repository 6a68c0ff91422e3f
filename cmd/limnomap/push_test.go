package main

import "testing"

func TestLocalContact(t *testing.T) {
	for contact, want := range map[string]string{
		"mailto:a@localhost": "localhost", "mailto:a@Mail.Local": "mail.local", "mailto:a@server": "server", "mailto:a@[192.168.0.1]": "192.168.0.1",
		"mailto:a@lakes.test": "lakes.test", "https://localhost/contact": "localhost", "https://10.0.0.1:8443/": "10.0.0.1", "https://[::1]/": "::1",
		"https://router.home.arpa/": "router.home.arpa", "https://lakes.internal/a@example.org": "lakes.internal",
		"mailto:lakes@example.org": "", "https://example.org/contact": "", "https://local.example.org/": "", "https://1.1.1.1/": "", "mailto:a@b.example.": "",
	} {
		if got := localContact(contact); got != want {
			t.Errorf("localContact(%q) = %q, want %q", contact, got, want)
		}
	}
}
