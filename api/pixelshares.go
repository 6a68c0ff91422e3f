package api

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/paulmach/orb"

	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/georef"
	"limnomap/data/snapshot"
)

// A passKey names an observation of a satellite of one lake.
type passKey struct {
	date   data.Date
	source string
}

// passShares are the shares of a pass, and the longer side of its pixels.
type passShares struct {
	data.PixelShares
	metres int // 0: not known
}

// of returns the shares, nil without pixels.
func (s *passShares) of() *data.PixelShares {
	if s == nil {
		return nil
	}
	return &s.PixelShares
}

// pixelMetres returns the longer side of the pixels of a grid at a place, as people name it: 309 m are 300. It is 0 if it is not known.
func pixelMetres(grid string, at orb.Point) int {
	const far = 1000 // metres
	g, err := georef.Parse(grid)
	if err != nil {
		return 0
	}
	columns, rows, ok := g.Radii(at, far)
	if !ok {
		return 0
	}
	side := max(far/columns, far/rows)
	unit := math.Pow(10, math.Floor(math.Log10(side)))
	if short := math.Round(side/unit) * unit; math.Abs(short/side-1) < 0.05 {
		return int(math.Round(short))
	}
	return int(math.Round(side*10/unit) * unit / 10)
}

// sharesOf reads the shares of those observations of Lakes[i], newest first, whose pixels are kept; of a site, those of its water. Pixels that
// cannot be read leave them out: the log has the error, and r is for it.
func (h *lakeHandlers) sharesOf(ctx context.Context, r *http.Request, snap *snapshot.Snapshot, i int, observations []data.Observation) map[passKey]*passShares {
	if h.opts.Pixels == nil || snap.Pixels.Count == 0 || len(observations) == 0 {
		return nil
	}
	shares, lake := make(map[passKey]*passShares), &snap.Lakes[snap.FirstSite(i)]
	metres := make(map[string]int) // by grid
	period := data.Period{First: observations[len(observations)-1].Date, Last: observations[0].Date}
	err := h.opts.Pixels.LakeSpreads(ctx, lake.ID, period, func(date data.Date, source, grid string, spread *pixels.Spread) error {
		if of, ok := data.PixelSharesOf(spread, snap.Profile); ok {
			if _, ok := metres[grid]; !ok {
				metres[grid] = pixelMetres(grid, lake.Point)
			}
			shares[passKey{date, source}] = &passShares{of, metres[grid]}
		}
		return ctx.Err()
	})
	if err != nil {
		if r.Context().Err() == nil {
			h.errors.Log(r, fmt.Errorf("pixels of %s: %w: %w", lake.ID, errStore, err))
		}
		return nil
	}
	return shares
}

// shareColumns returns columns of how much of a lake is affected, which shares returns; nil for no pixels.
func shareColumns[R any](shares func(R) *data.PixelShares) record.Columns[R] {
	part := func(name string, risk data.Risk) record.Column[R] {
		return record.Number(name, func(r R) float64 {
			if s := shares(r); s != nil {
				return s.Risks[risk].Float()
			}
			return math.NaN()
		})
	}
	percentile := func(name string, of func(*data.PixelShares) data.Chlorophyll) record.Column[R] {
		return record.Chlorophyll(name, func(r R) data.Chlorophyll {
			if s := shares(r); s != nil {
				return of(s)
			}
			return data.NoChlorophyll
		})
	}
	return record.Columns[R]{
		part("share_low", data.RiskLow), part("share_medium", data.RiskMedium), part("share_high", data.RiskHigh),
		percentile("p10", func(s *data.PixelShares) data.Chlorophyll { return s.P10 }),
		percentile("p90", func(s *data.PixelShares) data.Chlorophyll { return s.P90 }),
	}
}
