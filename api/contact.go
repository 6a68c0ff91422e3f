package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/pages"
)

// A Contact is the authority that answers questions about the lakes. The zero Contact is none.
type Contact struct {
	Name string
	URL  string // https, http, mailto or tel; empty for none
	Logo Logo
}

// Links are the addresses of the operator's own pages: https or http.
type Links = pages.Links

// A Logo is a picture of a contact. The zero Logo is none.
type Logo struct {
	Content []byte
	SVG     bool // else it is a PNG
}

// The addresses of the logo. The page may show pictures only from this server, so that this server sends it.
const (
	pathLogoPNG = "/contact-logo.png"
	pathLogoSVG = "/contact-logo.svg"
)

// address returns the address of the logo relative to the page; empty without a logo.
func (l Logo) address() string {
	switch {
	case l.Content == nil:
		return ""
	case l.SVG:
		return pathLogoSVG[1:]
	}
	return pathLogoPNG[1:]
}

// pageContact is the contact in the page's settings.
type pageContact struct {
	Name string `json:"name"`
	URL  string `json:"url"`  // empty without one
	Logo string `json:"logo"` // relative to the page; empty without one
}

// newPageContact returns the contact in the page's settings, nil if there is none.
func newPageContact(c Contact) *pageContact {
	if c.Name == "" {
		return nil
	}
	return &pageContact{c.Name, c.URL, c.Logo.address()}
}

// logo returns a handler that answers with the contact's logo, if it is an SVG or if it is a PNG.
func (h *pageHandlers) logo(svg bool) answer.Handler {
	kind := answer.NewKind(answer.TypePNG, answer.CacheRevisit)
	if svg {
		kind = answer.NewKind(answer.TypeSVG, answer.CacheRevisit)
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		answer.SetDocument(w, answer.ImageDocument)
		logo := h.adjustable().Contact.Logo
		if logo.Content == nil || logo.SVG != svg {
			return errNotFound
		}
		return h.sender.SendBytes(w, r, kind, logo.Content)
	}
}
