package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net/mail"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"limnomap/api"
	"limnomap/cmd/limnomap/config"
)

const (
	// maxContactName is the number of characters of a contact's name: more would not fit a sign or a phone.
	maxContactName = 200
	// maxLogoBytes is the size of a logo: the page loads it with each card.
	maxLogoBytes = 100_000
	// maxLogoSide is the width and the height of a logo in pixels: a small PNG can become a very large picture.
	maxLogoSide = 2048
)

// contactFlags name the authority that answers questions about the lakes.
type contactFlags struct {
	ContactName string `help:"Authority that answers questions about the lakes, such as the local health authority. The card, the page and the sign of a lake show it." check:"contact-name" placeholder:"NAME" group:"Data" reload:""`
	ContactURL  string `name:"contact-url" help:"Address of the contact: https, http, mailto or tel, such as https://example.org/bathing or tel:+49301234567. Needs --contact-name." check:"contact-url" placeholder:"URL" group:"Data" reload:""`
	ContactLogo string `help:"Logo of the contact: a PNG or SVG file of at most 100 kB. It is read again at a reload. Needs --contact-name." placeholder:"FILE" group:"Data" reload:""`
}

// linkFlags are the operator's own pages, which each page links to.
type linkFlags struct {
	ImprintURL       string `name:"imprint-url" help:"Address of the imprint. Each page links to it." check:"page-url" placeholder:"URL" group:"Data" reload:""`
	PrivacyURL       string `name:"privacy-url" help:"Address of the privacy notice. Each page links to it." check:"page-url" placeholder:"URL" group:"Data" reload:""`
	AccessibilityURL string `name:"accessibility-url" help:"Address of the accessibility statement. Each page links to it." check:"page-url" placeholder:"URL" group:"Data" reload:""`
}

// contact returns the contact, with its logo read from the file.
func (f *contactFlags) contact() (api.Contact, error) {
	c := api.Contact{Name: f.ContactName, URL: f.ContactURL}
	if f.ContactName == "" && (f.ContactURL != "" || f.ContactLogo != "") {
		return c, errors.New("--contact-url and --contact-logo need --contact-name, which is shown with them")
	}
	if f.ContactLogo == "" {
		return c, nil
	}
	var err error
	if c.Logo, err = readLogo(f.ContactLogo); err != nil {
		return c, fmt.Errorf("--contact-logo: %w", err)
	}
	return c, nil
}

// readLogo reads a logo and checks that it is what browsers show.
func readLogo(name string) (api.Logo, error) {
	content, err := config.ReadFile(name, maxLogoBytes)
	if err != nil {
		return api.Logo{}, err
	}
	logo, err := logoOf(content)
	if err != nil {
		return api.Logo{}, fmt.Errorf("%s: %w", name, err)
	}
	return logo, nil
}

// logoOf returns content as a logo. The content decides the media type, not the file's name.
func logoOf(content []byte) (api.Logo, error) {
	if !bytes.HasPrefix(content, []byte("\x89PNG")) {
		if err := checkSVG(content); err != nil {
			return api.Logo{}, fmt.Errorf("neither PNG nor SVG: %w", err)
		}
		return api.Logo{Content: content, SVG: true}, nil
	}
	size, err := png.DecodeConfig(bytes.NewReader(content))
	if err == nil && max(size.Width, size.Height) > maxLogoSide {
		err = fmt.Errorf("%d x %d pixels, want at most %d", size.Width, size.Height, maxLogoSide)
	}
	if err == nil {
		_, err = png.Decode(bytes.NewReader(content))
	}
	return api.Logo{Content: content}, err
}

// checkSVG returns an error unless content is well-formed and its root is svg: browsers show no other.
func checkSVG(content []byte) error {
	d := xml.NewDecoder(bytes.NewReader(content))
	var root struct {
		XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	}
	if err := d.Decode(&root); errors.Is(err, io.EOF) {
		return errors.New("there is no root element")
	} else if err != nil {
		return err
	}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok {
			return fmt.Errorf("a second root element, %s", e.Name.Local)
		}
	}
}

func checkContactName(text string) error {
	if n := utf8.RuneCountInString(text); n > maxContactName || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || strings.TrimSpace(text) != text {
		return fmt.Errorf("%.80q: want one line of at most %d characters, without spaces around it", text, maxContactName)
	}
	return nil
}

func checkContactURL(text string) error {
	u, err := url.Parse(text)
	if err == nil {
		switch u.Scheme {
		case "https", "http":
			if u.Host == "" || u.User != nil {
				err = errors.New("no host")
			}
		case "mailto":
			address, _, _ := strings.Cut(u.Opaque, "?")
			_, err = mail.ParseAddress(address)
		case "tel": // RFC 3966
			if number := strings.Trim(u.Opaque, "+0123456789-.()"); u.Opaque == "" || number != "" {
				err = errors.New("no number")
			}
		default:
			err = errors.New("another scheme")
		}
	}
	if err != nil || len(text) > 500 {
		return fmt.Errorf("%q: want an address such as https://example.org/bathing, mailto:lakes@example.org or tel:+49301234567", config.Redact(text))
	}
	return nil
}

// checkPageURL checks the address of a page of the operator.
func checkPageURL(text string) error {
	if err := checkContactURL(text); err != nil || !strings.HasPrefix(text, "http") {
		return fmt.Errorf("%q: want an address such as https://example.org/imprint", config.Redact(text))
	}
	return nil
}
