package sign

import (
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/colormap"
	"limnomap/data/linetext"
	"limnomap/data/snapshot"
)

// Signs make verdicts and sheets. They are safe for concurrent use.
type Signs struct {
	pages.Maker[ownWords]
	colors words.Colors
}

// ownWords are the texts that only signs have.
type ownWords struct {
	Title, Print, LakePage, Map        string
	Measured, OldMeasured, AsOf        string // with {date}
	StateOfThatDay, OldValue           string
	Simulated                          string // in one word
	Meaning                            struct{ Low, Medium, High, None string }
	LastRisk                           string // with {risk}
	Look, Code, NoAddress, Ask, Issued string
}

// New returns Signs from the files of the pages made on the server. The colours of the classes are those of the scale.
func New(files fs.FS, scale *colormap.Map) (*Signs, error) {
	sheet, err := pages.NewMaker[ownWords](files, "sign")
	return &Signs{sheet, words.ColorsOf(scale)}, err
}

// sheetPage is what the template shows. All addresses are relative to /lakes/{id}/.
type sheetPage struct {
	Words   *words.Page[ownWords]
	Colors  words.Colors
	Verdict *Verdict
	Others  []words.Link
	Title   string // of the document
	Length  string // how long the name is: "", "long" or "longer"
	Region  string
	Symbol  string // of the class, or of the last risk
	Meaning []string
	Issuer  string        // of the statement, with its cause
	Inside  *pages.Figure // of the lake; nil without one
	Classes []string      // that it has

	Map, Page   string // addresses
	Address     string // of the lake's page in letters; empty if it is not known
	Code        *code  // nil without an address
	CodeTitle   string // of the code, for screen readers
	Attribution string
	Contact     pages.Contact
	Foot        pages.Foot
	ContactText string // the contact's address in letters
	Issued      string // when the sheet was printed
}

// Sheet returns the sheet of the i-th lake of a snapshot as HTML, and its language. It leads to the reader's page of the lake, if that has an
// address that others can use. It has the picture of the inside of the lake, if that is not nil.
func (s *Signs) Sheet(snap *snapshot.Snapshot, i int, inside *pages.Figure, r *pages.Reader) (content []byte, language string, err error) {
	w := s.For(r.Language, r.AcceptLanguage)
	p, err := s.newSheetPage(snap, i, w, r)
	if err != nil {
		return nil, "", fmt.Errorf("sign of %s: %w", snap.Lakes[i].ID, err)
	}
	p.Inside, p.Classes = inside, []string{words.LowRisk.String(), words.MediumRisk.String(), words.HighRisk.String()}
	return s.Make(w, p)
}

func (s *Signs) newSheetPage(snap *snapshot.Snapshot, i int, w *words.Page[ownWords], r *pages.Reader) (*sheetPage, error) {
	lake, v, id := &snap.Lakes[i], newVerdict(snap, i, w, r), url.PathEscape(string(snap.Lakes[i].ID))
	p := &sheetPage{
		Words: w, Colors: s.colors, Verdict: v, Symbol: v.Class.String(),
		Title:  words.Fill(w.Own.Title, "lake", linetext.Isolate(lake.Name)),
		Length: lengthOf(v.Name), Region: linetext.Clean(lake.Region),
		Attribution: r.Attribution,
		Map:         "../../" + pages.Query(r.Language) + "#lake=" + url.QueryEscape(string(lake.ID)), Page: "../" + id + pages.Query(r.Language),
		Foot: r.Foot(w.Words, "../../"), Contact: r.Contact, ContactText: addressInLetters(string(r.Contact.URL)),
		Issued: words.Fill(w.Own.Issued, "date", w.Day(r.Today)),
		Others: s.Others(w, func(language string) string { return "?lang=" + language }),
	}
	if p.Contact.Logo != "" {
		p.Contact.Logo = "../../" + p.Contact.Logo
	}
	p.Meaning = meaningOf(v, w)
	if v.statement != nil {
		p.Issuer = strings.TrimPrefix(v.statement.Cause+" · "+v.statement.Issuer, " · ")
	}
	if page := r.Base + "/lakes/" + id; known(page) {
		p.Address = addressInLetters(page)
		p.CodeTitle = words.Fill(w.Own.Code, "address", p.Address)
		var err error
		if p.Code, err = newCode(page); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Preview returns the verdict of the i-th lake of a snapshot, and the sentences of its sheet about what that means for bathers.
func (s *Signs) Preview(snap *snapshot.Snapshot, i int, r *pages.Reader) (*Verdict, []string) {
	w := s.For(r.Language, r.AcceptLanguage)
	v := newVerdict(snap, i, w, r)
	return v, meaningOf(v, w)
}

// meaningOf returns the sentences about what a verdict means for bathers.
func meaningOf(v *Verdict, w *words.Page[ownWords]) []string {
	var sentences []string
	if v.statement != nil {
		sentences = append(sentences, v.statement.Help)
	}
	switch v.Class {
	case words.LowRisk:
		if v.statement == nil {
			sentences = append(sentences, w.Own.Meaning.Low)
		}
	case words.MediumRisk:
		sentences = append(sentences, w.Own.Meaning.Medium)
	case words.HighRisk:
		sentences = append(sentences, w.Own.Meaning.High)
	case words.NoValue:
		if v.measured != 0 {
			sentences = append(sentences, words.Fill(w.Own.LastRisk, "risk", w.Risk[v.Risk.String()]))
		}
		sentences = append(sentences, w.Own.Meaning.None)
	}
	return sentences
}

// lengthOf says how long a name is, so that its letters are smaller and it does not push anything off the r.
func lengthOf(name string) string {
	switch n := utf8.RuneCountInString(name); {
	case n > 60:
		return "longer"
	case n > 24:
		return "long"
	}
	return ""
}

// addressInLetters returns an address as people type it.
func addressInLetters(address string) string {
	for _, scheme := range []string{"https://", "http://", "mailto:", "tel:"} {
		if rest, ok := strings.CutPrefix(address, scheme); ok {
			return strings.TrimSuffix(rest, "/")
		}
	}
	return address
}

// known reports whether other people can use an address: it is absolute, and not of the reader's own machine.
func known(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Hostname() == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err != nil || !ip.IsLoopback() && !ip.IsUnspecified()
}
