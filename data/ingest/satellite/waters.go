package satellite

import (
	"context"
	"math"
	"slices"

	"limnomap/data"
	"limnomap/data/raster/zonal"
)

// nearSite is how far in metres from a site the pixels are of which its value is. With two pixels of 300 m left out at a straight shore it has some twenty.
const nearSite = 1500

// joinSites finds the waters that have several sites. The first one, by [data.CompareSites], has the pixels of all; if it has no outline, all are those of
// the water that grows from its point. A site without an outline has the value of those near it, and one with an outline that of the pixels inside, as any lake.
func (x *extraction) joinSites() {
	x.sites, x.joined = make(map[int][]int), make(map[int]bool)
	waters := make(map[string][]int)
	for i := range x.lakes {
		if id := x.lakes[i].WaterID; id != "" {
			waters[id] = append(waters[id], i)
		}
	}
	grows := !x.opts.WithoutOutline.skip && x.opts.WithoutOutline.disc == 0
	for _, sites := range waters {
		slices.SortFunc(sites, func(a, b int) int { return data.CompareSites(x.lakes[a].site(), x.lakes[b].site()) })
		first := sites[0]
		if len(sites) == 1 || !grows && x.lakes[first].Outline == "" {
			continue
		}
		for _, i := range sites {
			if i != first {
				x.joined[i] = true
			}
			if x.lakes[i].Outline == "" {
				x.sites[first] = append(x.sites[first], i)
			}
		}
	}
}

func (l *Lake) site() data.Site { return data.Site{ID: l.ID, Outline: l.Outline} }

// batchWater adds a lake to the batch, and the sites that have the values of its pixels near them.
func (x *extraction) batchWater(ctx context.Context, p pending) error {
	sites := x.sites[p.lake]
	if len(sites) == 0 {
		return x.batchLakes(ctx, p)
	}
	var near []pending
	for _, i := range sites {
		mask, err := x.near(i, p.mask)
		switch {
		case err != nil:
			return err
		case mask.Count() < x.opts.MinPixels:
			x.leaveOut(TooFewPixels)
			continue
		}
		// A mask that grew has no pixels without a value. Each of its sites counts the gaps of the water by their share.
		inside := int(math.Round(float64(mask.Count()) * float64(p.inside) / float64(p.mask.Count())))
		site := pending{lake: i, mask: mask, inside: inside, method: methodNear, shore: p.shore, cut: p.cut, gathered: p.gathered, near: true}
		if p.gathered {
			mask.Each(func(y, x0, x1 int) {
				for column := x0; column < x1; column++ {
					at, _ := p.mask.Index(column, y) // it is in both
					site.values = append(site.values, p.values[at])
				}
			})
		}
		near = append(near, site)
	}
	if x.lakes[p.lake].Outline == "" {
		// Its pixels are stored with its own value, that of those near it.
		at := slices.IndexFunc(near, func(n pending) bool { return n.lake == p.lake })
		if at < 0 {
			return x.batchLakes(ctx, near...)
		}
		near[at].water = p.mask
		near[at].waterValues = p.values
		return x.batchLakes(ctx, near...)
	}
	return x.batchLakes(ctx, append(near, p)...)
}

// near returns the pixels of a water that are near a site.
func (x *extraction) near(i int, water *zonal.Mask) (*zonal.Mask, error) {
	at := x.lakes[i].Point
	center, ok := x.grid.PixelOf(at, x.grid.TurnOf(at[0]))
	rx, ry, ok2 := x.grid.Radii(at, nearSite)
	if !ok || !ok2 {
		return zonal.MaskOf(func() (int, int, int, bool) { return 0, 0, 0, false })
	}
	if period := float64(x.grid.Period); period > 0 { // the water may be a turn away
		b := water.Bounds()
		center[0] += period * math.Round((float64(b.Min.X+b.Max.X)/2-center[0])/period)
	}
	disc, err := zonal.NewDisc(center, rx, ry)
	if err != nil {
		return nil, err
	}
	return water.And(disc), nil
}
