package render

import (
	"testing"

	"limnomap/colormap"
)

// TestShades checks that every colour of every map has its own entry at full opacity, that classes never share an entry, and
// that levels never share one.
func TestShades(t *testing.T) {
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
		for _, id := range colormap.IDs() {
			m := newMap(t, id, limits)
			p, shades := heatPalette(m), newShading(m, &fullRange).entries
			class := func(i int) (class int) {
				for _, c := range m.Legend().Classes {
					if i -= len(c.Colors); i < 0 {
						break
					}
					class++
				}
				return class
			}
			type user struct{ level, class int }
			users := map[uint8]user{}
			for level, entries := range shades {
				for i, e := range entries {
					u := user{level, class(i)}
					if was, ok := users[e]; e == 0 || ok && (was != u || level == levels-1) {
						t.Errorf("%s, %s: level %d, colour %d has the entry %d, which is taken", limits.Title, id, level+1, i, e)
					}
					users[e] = u
					c := p[e]
					c.A = 0xff
					if level == levels-1 && c != m.Table()[i] {
						t.Errorf("%s, %s: level %d shows %v, want %v", limits.Title, id, level+1, c, m.Table()[i])
					}
				}
			}
		}
	}
}
