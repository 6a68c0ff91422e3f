package colormap

import (
	"image/color"
	"math"
)

// A ramp is a named sequence of colours, before it is fitted to limits.
type ramp struct {
	id    ID
	title string
	// classes has one gradient per class, or a single one for the whole scale.
	classes [][]color.NRGBA
}

// ramps returns every ramp, the default first.
func ramps() []ramp {
	return []ramp{
		{Default, "Limno", [][]color.NRGBA{
			// Water blue, amber and dark red, around the anchors #1b9e9a #f2b134 #a50f15. In each class darker is more. Hue
			// and lightness change abruptly at each limit, so that the three classes are visible at once. The first anchor is
			// shifted towards blue, because teal looks exactly like the grey of no data to a protanope (CIE76 0.8; now 15).
			// Amber remains yellow enough at its end to differ from red for a deuteranope. The last red is bright enough for
			// dark basemaps, where the worst bloom must not be the faintest mark.
			hexes(0x86d3e8, 0x1f97b5, 0x0a6f94),
			hexes(0xffdf6e, 0xf2b134, 0xe8952a),
			hexes(0xc22a26, 0xa50f15, 0x7a0519),
		}},
		// For grey prints and photocopies: L* of CIELAB falls with every step, from 88 to 27, so that more is always darker. In
		// limno the last blue is darker than the first yellow. Pale blue, ochre and crimson, chosen by a random search for classes
		// that differ for every kind of colour vision (CIE76 30 or more), also from the grey of no data. L* also drops at each
		// limit. The last crimson is bright enough for dark basemaps, as in limno.
		{"lightness", "Lightness", [][]color.NRGBA{
			hexes(0x90ecfb, 0x4eb8ea),
			hexes(0xd29215, 0xa47000),
			hexes(0xbc1a5c, 0x80003c),
		}},
		// Smith and van der Walt 2015, matplotlib 1.5, released as CC0; every 28th of its 256 colours.
		{"viridis", "Viridis", [][]color.NRGBA{hexes(0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e, 0x1f9e89,
			0x35b779, 0x6dcd59, 0xb4de2c, 0xfde725)}},
		// Nuñez, Anderton and Renslow 2018, PLoS ONE 13(7) e0199239, without its middle, which looks like the grey of no data
		// (CIE76 15; 11 to a tritanope; 20 without it). The low class has its first two ninths, the other classes its last two,
		// without the part from 86 to 90 % of it between them. So the map jumps at each limit.
		{"cividis", "Cividis", [][]color.NRGBA{
			hexes(0x00204d, 0x00336f, 0x39486b),
			hexes(0xc4b56c, 0xdcc860),
			hexes(0xe7d259, 0xffea46),
		}},
		// Thyng et al. 2016, Oceanography 29(3), cmocean, MIT; twelve colours at equal distances.
		{"algae", "Algae", [][]color.NRGBA{hexes(0xd6f9cf, 0xbae4ae, 0x9cd18f, 0x7cbf73, 0x55ae5b, 0x259d51, 0x078a4e,
			0x0d7547, 0x175f3d, 0x194b31, 0x173723, 0x112414)}},
	}
}

// table returns the colours of the steps of s.
func (r ramp) table(s scale) (table [Steps]color.NRGBA) {
	if len(r.classes) == 1 {
		for i := range table {
			table[i] = at(r.classes[0], s.position(i))
		}
		return table
	}
	for c, stops := range r.classes {
		from, last := s.first[c], s.first[c+1]-1
		for i := from; i <= last; i++ {
			table[i] = at(stops, float64(i-from)/float64(last-from))
		}
	}
	return table
}

// at returns the colour at t, 0 to 1, of a gradient through stops at equal distances.
func at(stops []color.NRGBA, t float64) color.NRGBA {
	x := t * float64(len(stops)-1)
	i := min(int(math.Floor(x)), len(stops)-2)
	return toOKLab(stops[i]).mix(toOKLab(stops[i+1]), x-float64(i)).nrgba()
}

// hexes returns opaque colours from their 0xrrggbb forms.
func hexes(values ...uint32) []color.NRGBA {
	colors := make([]color.NRGBA, len(values))
	for i, v := range values {
		colors[i] = color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
	}
	return colors
}
