package api

import (
	"net/http"
	"strings"
	"testing"
)

// The page's settings name the contact, and the logo is at the address that they give. Another contact replaces both.
func TestContact(t *testing.T) {
	opts := testOptions(t)
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`)
	opts.Contact = Contact{Name: `Office <&"'>`, URL: "tel:+49301234567", Logo: Logo{svg, true}}
	s := newServer(t, opts, nil)
	contact := object(t, get(t, s, http.StatusOK, "/page.json"))["contact"].(map[string]any)
	if contact["name"] != opts.Contact.Name || contact["url"] != "tel:+49301234567" || contact["logo"] != "contact-logo.svg" {
		t.Errorf("page.json has the contact %v", contact)
	}
	w := get(t, s, http.StatusOK, "/contact-logo.svg")
	h := w.Header()
	if w.Body.String() != string(svg) || h.Get("Content-Type") != "image/svg+xml" || h.Get("Cache-Control") != "no-cache" {
		t.Errorf("the logo is %q with %v", w.Body.String(), h)
	}
	// Opened by itself, a logo runs no script.
	policy := h.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "sandbox") || strings.Contains(policy, "script-src") {
		t.Errorf("the policy of the logo is %q", policy)
	}
	get(t, s, http.StatusNotModified, "/contact-logo.svg", "If-None-Match", h.Get("ETag"))
	get(t, s, http.StatusNotFound, "/contact-logo.png")

	to := opts.Adjustable
	to.Contact = Contact{Name: "Other", Logo: Logo{[]byte("\x89PNG"), false}}
	s.Adjust(to)
	contact = object(t, get(t, s, http.StatusOK, "/page.json"))["contact"].(map[string]any)
	if contact["name"] != "Other" || contact["url"] != "" || contact["logo"] != "contact-logo.png" {
		t.Errorf("after Adjust page.json has the contact %v", contact)
	}
	if got := get(t, s, http.StatusOK, "/contact-logo.png"); got.Body.String() != "\x89PNG" || got.Header().Get("Content-Type") != "image/png" {
		t.Errorf("after Adjust the logo is %q, %v", got.Body.String(), got.Header())
	}
	get(t, s, http.StatusNotFound, "/contact-logo.svg")

	to.Contact = Contact{Name: "Without a logo"}
	s.Adjust(to)
	if got := object(t, get(t, s, http.StatusOK, "/page.json"))["contact"].(map[string]any)["logo"]; got != "" {
		t.Errorf("the logo %v, want none", got)
	}
	get(t, s, http.StatusNotFound, "/contact-logo.png")
}

// The page's settings and all pages made on the server lead to the operator's own pages, only if there are any.
func TestFoot(t *testing.T) {
	opts := testOptions(t)
	s := newServer(t, opts, verdictSource(t))
	pages := []string{"/table", "/table?lang=de", "/lakes/de_by_clean", "/lakes/de_by_clean/sign"}
	for _, page := range pages {
		foot := footOf(t, s, page)
		if !strings.Contains(foot, `table`) || !strings.Contains(foot, `docs">API`) || !strings.Contains(foot, "status.csv") || strings.Contains(foot, "noopener") {
			t.Errorf("%s has the foot %s", page, foot)
		}
	}
	to := opts.Adjustable
	to.Links = Links{Imprint: `https://example.org/?a="<b>`, Privacy: "https://example.org/privacy"}
	s.Adjust(to)
	for _, page := range pages {
		foot := footOf(t, s, page)
		if strings.Count(foot, "noopener") != 2 || !strings.Contains(foot, `href="https://example.org/privacy"`) || strings.Contains(foot, "<b>") {
			t.Errorf("%s has the foot %s", page, foot)
		}
	}
	links := object(t, get(t, s, http.StatusOK, "/page.json"))["links"].(map[string]any)
	if links["imprint"] != to.Links.Imprint || links["privacy"] != to.Links.Privacy || links["accessibility"] != "" {
		t.Errorf("page.json has the links %v", links)
	}
}

// footOf returns the foot of a page.
func footOf(t *testing.T, s *Server, page string) string {
	t.Helper()
	body := get(t, s, http.StatusOK, page).Body.String()
	_, foot, ok := strings.Cut(body, `<p class="foot">`)
	if !ok {
		t.Fatalf("%s has no foot: %s", page, body)
	}
	foot, _, _ = strings.Cut(foot, "</p>")
	return foot
}
