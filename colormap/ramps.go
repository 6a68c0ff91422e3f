package colormap

import (
	"image/color"
	"math"
)

// A ramp is a named sequence of colours for each class, before it is fitted to limits.
type ramp struct {
	id      ID
	title   string
	classes [classes][]color.NRGBA
}

// ramps returns every ramp, the default first. In each, to all kinds of colour vision, two colours of different classes differ by a CIE76 of 15 or
// more, and every colour by as much from the grey of no data.
func ramps() []ramp {
	return []ramp{
		// Water blue, amber and crimson, found by simulated annealing over the colours of both ends of each class: L* of CIELAB falls with every step, from 84 to
		// 37, by 6 or more at each limit, so that a grey print, a photocopy and a screen in the sun show more as darker. The distances between classes and
		// to the grey of no data are those of TestDistances for all kinds of colour vision. Of such colours the blue is nearly the darkest, with a contrast of 1.36
		// to 1.74 on a light map (#f4f2ee): a tritanope sees no blue with a contrast of 1.95 or more as far from the grey of no data, and the mean step of colour between
		// low and medium pixels at zoom 5 must stay below 100 (TestHeatFigures). The crimson has a contrast of 2.65 to 2.14 on a dark one (#22262b).
		{Default, "Limno", [...][]color.NRGBA{
			hexes(0x3de5ff, 0x52c5ff),
			hexes(0xde9d2f, 0xd2891d),
			hexes(0xc61d45, 0xb10735),
		}},
		// Parts of published ramps, between which those colours are left out that would make neighbouring classes alike, or look like no data.
		//
		// Smith and van der Walt 2015, matplotlib 1.5, released as CC0; 0 to 43 %, 63 to 77 % and 85 to 100 % of it.
		{"viridis", "Viridis", [...][]color.NRGBA{
			hexes(0x440154, 0x3f4888, 0x287f8e),
			hexes(0x2fb07e, 0x49be71, 0x68cb5d),
			hexes(0x9dd841, 0xc7e02b, 0xfde725),
		}},
		// Nuñez, Anderton and Renslow 2018, PLoS ONE 13(7) e0199239; 0 to 18 %, 73 to 77 % and 95 to 100 % of it. To a tritanope most of it looks like the
		// grey of no data.
		{"cividis", "Cividis", [...][]color.NRGBA{
			hexes(0x00204d, 0x002e66, 0x29416d),
			hexes(0xb8ab70, 0xc1b36d),
			hexes(0xf3de51, 0xffea46),
		}},
		// Thyng et al. 2016, Oceanography 29(3), cmocean, MIT; 0 to 18 %, 37 to 52 % and 70 to 85 % of it. Its end is nearly black, and so invisible on dark
		// basemaps.
		{"algae", "Algae", [...][]color.NRGBA{
			hexes(0xd6f9cf, 0xbce6b1, 0x9bd18f),
			hexes(0x54ad5b, 0x33a153, 0x13904f),
			hexes(0x156640, 0x185638, 0x19442c),
		}},
	}
}

// table returns the colours of the steps of s.
func (r ramp) table(s scale) (table [Steps]color.NRGBA) {
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
