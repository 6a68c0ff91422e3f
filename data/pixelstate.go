package data

import (
	"math"

	"limnomap/data/pixels"
)

// A PixelState identifies the pixels of satellites that are stored with observations. The zero value is none.
type PixelState struct {
	Count  int64 // of observations with pixels
	Digest int64 // of all of them; the same pixels have the same
}

// A LakeValue names the observations of a lake on a day with a value.
type LakeValue struct {
	Lake        LakeID
	Date        Date
	Chlorophyll Chlorophyll
}

// PixelShares say how much of a lake is affected, by the pixels of one pass of a satellite.
type PixelShares struct {
	Risks         [RiskHigh + 1]TenThousandths // parts of the pixels with a value that have a risk by the limits of chlorophyll
	P10, P90      Chlorophyll                  // percentiles of the values
	Valid, Inside int32                        // pixels with a value, and all of the lake
}

// PixelSharesOf returns the shares of pixels. It is not ok if none has a value.
func PixelSharesOf(s *pixels.Spread, profile *Profile) (shares PixelShares, ok bool) {
	if s.Valid == 0 {
		return shares, false
	}
	var counts [len(shares.Risks)]int
	s.Each(func(above float64, n int) {
		counts[profile.Level(hundredthsOfMicrograms(above)+1).Risk()] += n
	})
	for i, n := range counts {
		shares.Risks[i] = TenThousandths(math.Round(float64(n) / float64(s.Valid) * 10_000))
	}
	shares.P10, shares.P90 = hundredthsOfMicrograms(s.P10), hundredthsOfMicrograms(s.P90)
	shares.Valid, shares.Inside = int32(s.Valid), int32(s.Inside)
	return shares, true
}

// hundredthsOfMicrograms returns a value of pixels, which are from 0 to MaxChlorophyll.
func hundredthsOfMicrograms(chl float64) Chlorophyll { return Chlorophyll(math.Round(100 * chl)) }
