package lakepage

import (
	"math"
	"strconv"
	"strings"

	"limnomap/api/pages"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/linetext"
)

// Inside is what the pixels of the current value of a lake say.
type Inside struct {
	Date   data.Date
	Shares data.PixelShares
	Metres int // the longer side of a pixel
	// Site is true if the lake is a site of a water that has several: the pixels are those of the water. Clearer are the names of those that were clearer.
	Site    bool
	Clearer []string
}

// Figure returns the picture of the pixels of the lake with that escaped id, for a page of the server in a folder from which base leads to its root; nil for a nil i.
func (m *Maker) Figure(i *Inside, id, base string, r *pages.Reader) *pages.Figure {
	return i.figure(id, base, m.For(r.Language, r.AcceptLanguage))
}

func (i *Inside) figure(id, base string, w *words.Page[ownWords]) *pages.Figure {
	if i == nil {
		return nil
	}
	percent := func(risk data.Risk) string { return strconv.Itoa(int(math.Round(100 * i.Shares.Risks[risk].Float()))) }
	text := words.Fill(w.Own.InsideText, "low", percent(data.RiskLow), "medium", percent(data.RiskMedium), "high", percent(data.RiskHigh),
		"metres", strconv.Itoa(i.Metres))
	if i.Site {
		text = w.Own.InsideSite + " " + text
	}
	if len(i.Clearer) > 0 {
		names := make([]string, len(i.Clearer))
		for k, name := range i.Clearer {
			names[k] = linetext.Isolate(name)
		}
		text += " " + words.Fill(w.Own.InsideClearer, "names", strings.Join(names, ", "))
	}
	return &pages.Figure{
		Image: base + "api/v1/bathing-lakes/pixels/" + id + "?f=png&date=" + i.Date.String(),
		Alt:   w.Own.Inside + ", " + w.Day(i.Date),
		Text:  text,
	}
}
