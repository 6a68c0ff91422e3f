package render

import "github.com/paulmach/orb/maptile"

// Beneath reports whether a tile, or any tile that lies beneath it at a larger zoom, may show something of l in a style,
// at either scale. Where it reports false all of them are blank; and a tile beneath another is never asked in vain, since
// what it reports of a tile it reports of all tiles above. So who looks for the tiles that are not blank finds them by
// descending from zoom 0. Of what [Renderer.Fingerprint] refuses it reports false.
func (r *Renderer) Beneath(l *Layer, t maptile.Tile, style StyleID) bool {
	p, err := r.painter(Spec{Tile: t, Scale: 1, Style: style})
	if err != nil {
		return false
	}
	// The places of a layer, the zooms' distances and their pixels' centres are rounded, by less than a pixel in all: with
	// one pixel more on each side, the window of a tile holds those of all tiles beneath. Lakes that are thinned out or
	// binned at this zoom lie within that pixel, too, of the one that stands for them.
	w := windowOf(t, 1)
	w.left, w.top = w.left-w.step(), w.top-w.step()
	w.width, w.height = w.width+2, w.height+2
	q := newQuery(&l.lakes, w, descent{p})
	q.once = true
	for _, tier := range p.tiers(&l.lakes) {
		q.order = tier.places
		q.around(tier.extent>>q.shift + 1 + p.widest(&l.lakes, w))
		if q.done() {
			return true
		}
	}
	return false
}

// A descent is a painter whose marks reach as far as any of theirs does at any larger zoom.
type descent struct{ painter }

func (d descent) reach(p *place, w window) int64 { return d.beneath(p, w.zoom) }
