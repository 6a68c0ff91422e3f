// Package atom writes feeds as Atom (RFC 4287).
package atom

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

const (
	Type      = "application/atom+xml" // the media type (RFC 4287, section 7)
	namespace = "http://www.w3.org/2005/Atom"
)

// A Feed is what a feed says besides its entries.
type Feed struct {
	ID      string
	Title   string
	Updated time.Time
	Author  string
	Self    string // the address of the feed
	Link    string // the address of a page about the same; empty for none
	Next    string // the address of the feed with older entries (RFC 5005); empty for none
}

// Tail is what follows the last entry.
const Tail = "</feed>\n"

// Head returns what precedes the first entry.
func (f *Feed) Head() []byte {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<feed xmlns="` + namespace + `" xml:lang="en">` + "\n")
	for _, element := range []struct{ name, text string }{
		{"id", f.ID}, {"title", f.Title}, {"updated", Time(f.Updated)},
	} {
		b.WriteString("  <" + element.name + ">")
		escape(&b, element.text)
		b.WriteString("</" + element.name + ">\n")
	}
	b.WriteString("  <author><name>")
	escape(&b, f.Author)
	b.WriteString("</name></author>\n")
	for _, link := range []Link{{"self", Type, f.Self}, {"alternate", "text/html", f.Link}, {"next", Type, f.Next}} {
		if link.Href == "" {
			continue
		}
		b.WriteString(`  <link rel="` + link.Rel + `" type="` + link.Type + `" href="`)
		escape(&b, link.Href)
		b.WriteString(`"/>` + "\n")
	}
	return b.Bytes()
}

func escape(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s)) // a buffer has no errors
}

// An Entry is one entry of a feed. Times are the result of [Time].
type Entry struct {
	XMLName   xml.Name `xml:"entry"`
	Language  string   `xml:"xml:lang,attr"`
	ID        string   `xml:"id"`
	Title     string   `xml:"title"`
	Updated   string   `xml:"updated"`
	Published string   `xml:"published"`
	Author    string   `xml:"author>name"`
	Category  Category `xml:"category"`
	Link      Link     `xml:"link"`
	Summary   string   `xml:"summary"`
}

// A Category is what an entry is about, as a word for programs.
type Category struct {
	Term string `xml:"term,attr"`
}

// A Link is an address of an entry.
type Link struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr"`
	Href string `xml:"href,attr"`
}

// Append appends the entry.
func (e *Entry) Append(b []byte) []byte {
	entry, err := xml.MarshalIndent(e, "  ", "  ")
	if err != nil {
		panic("atom: an entry of strings must marshal: " + err.Error())
	}
	return append(append(b, entry...), '\n')
}

// Time returns a time as text.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// URN returns a name that is the same for the same parts: a UUID of version 8 (RFC 9562). An entry needs an absolute id, and a
// server without a public address has no other.
func URN(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
