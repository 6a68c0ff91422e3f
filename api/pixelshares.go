package api

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/snapshot"
)

// A passKey names an observation of a satellite of one lake.
type passKey struct {
	date   data.Date
	source string
}

// pixelShares say how much of a lake is affected; a nil *pixelShares says nothing.
type pixelShares struct {
	risks    [data.RiskHigh + 1]float64 // parts of the pixels with a value
	p10, p90 data.Chlorophyll
}

// newPixelShares returns the shares of the pixels of a lake by the limits of chlorophyll, nil if none has a value.
func newPixelShares(s *pixels.Spread, profile *data.Profile) *pixelShares {
	if s.Valid == 0 {
		return nil
	}
	shares := &pixelShares{p10: hundredthsOfMicrograms(s.P10), p90: hundredthsOfMicrograms(s.P90)}
	s.Each(func(chl float64, n int) {
		shares.risks[profile.Level(hundredthsOfMicrograms(chl)).Risk()] += float64(n)
	})
	for i := range shares.risks {
		shares.risks[i] = math.Round(shares.risks[i]/float64(s.Valid)*1e4) / 1e4
	}
	return shares
}

// hundredthsOfMicrograms returns a value of pixels, which are at most data.MaxChlorophyll.
func hundredthsOfMicrograms(chl float64) data.Chlorophyll {
	c, err := data.ChlorophyllOf(chl)
	if err != nil {
		return data.NoChlorophyll
	}
	return c
}

// of returns the share of a risk, NaN without pixels.
func (s *pixelShares) of(risk data.Risk) float64 {
	if s == nil {
		return math.NaN()
	}
	return s.risks[risk]
}

func (s *pixelShares) low() data.Chlorophyll {
	if s == nil {
		return data.NoChlorophyll
	}
	return s.p10
}

func (s *pixelShares) high() data.Chlorophyll {
	if s == nil {
		return data.NoChlorophyll
	}
	return s.p90
}

// readShares returns the shares of the observations of a lake whose pixels are kept, which are newest first.
func (h *lakeHandlers) readShares(r *http.Request, snap *snapshot.Snapshot, id data.LakeID, observations []data.Observation) (shares map[passKey]*pixelShares, err error) {
	if h.opts.Pixels == nil || snap.Pixels.Count == 0 || len(observations) == 0 {
		return nil, nil
	}
	shares = make(map[passKey]*pixelShares)
	period := data.Period{First: observations[len(observations)-1].Date, Last: observations[0].Date}
	err = h.askStore(r, errStore, func(ctx context.Context) error {
		return h.opts.Pixels.PixelCodes(ctx, id, period, func(date data.Date, source string, codes []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			spread, err := pixels.SpreadOf(codes)
			if err != nil {
				return fmt.Errorf("pixels of %s on %s: %w", id, date, err)
			}
			shares[passKey{date, source}] = newPixelShares(spread, snap.Profile)
			return nil
		})
	})
	return shares, err
}
