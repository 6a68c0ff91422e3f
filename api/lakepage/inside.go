package lakepage

import (
	"math"
	"strconv"

	"limnomap/api/words"
	"limnomap/data"
)

// Inside is what the pixels of the current value of a lake say.
type Inside struct {
	Date   data.Date
	Shares data.PixelShares
	Metres int // the longer side of a pixel
}

// inside is the picture of the pixels, and what it shows in words.
type inside struct{ Image, Alt, Text string }

// shown returns the picture for the page of the lake with that escaped id, nil for a nil i.
func (i *Inside) shown(id string, w *words.Page[ownWords]) *inside {
	if i == nil {
		return nil
	}
	percent := func(risk data.Risk) string { return strconv.Itoa(int(math.Round(100 * i.Shares.Risks[risk].Float()))) }
	return &inside{
		Image: "../api/v1/bathing-lakes/pixels/" + id + "?f=png&date=" + i.Date.String(),
		Alt:   w.Own.Inside + ", " + w.Day(i.Date),
		Text: words.Fill(w.Own.InsideText, "low", percent(data.RiskLow), "medium", percent(data.RiskMedium), "high", percent(data.RiskHigh),
			"metres", strconv.Itoa(i.Metres)),
	}
}
