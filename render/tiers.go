package render

import (
	"math/bits"
)

// narrowBits tells the waters that are searched as one: those that reach less than 2^narrowBits world units from their
// place, 2.4 km at the equator and 1.5 km in Germany, where two lakes in a hundred reach further.
const narrowBits = 18

// A tier is a list of places that are searched by themselves. Those that reach far are kept apart by how far they do:
// were they all in one, a single large lake would make a search for small ones look as far as it reaches.
type tier struct {
	places []int32 // indices in the layer's, ascending; nil for all of them
	extent int64   // no water of them reaches this far, in world units
}

// undivided is the one tier of a style whose marks are small, however far a lake's water reaches.
var undivided = []tier{{}}

// tierOf returns the number of bits of how far the places of p's tier reach.
func tierOf(p *place) int { return max(bits.Len64(uint64(p.extent())), narrowBits) }

// newTiers sorts places into tiers, by twice the reach from one to the next.
func newTiers(places []place) []tier {
	var byBits [worldBits + 1][]int32
	for i := range places {
		n := tierOf(&places[i])
		byBits[n] = append(byBits[n], int32(i))
	}
	var tiers []tier
	for n, list := range byBits {
		if len(list) > 0 {
			tiers = append(tiers, tier{list, 1 << n})
		}
	}
	return tiers
}
