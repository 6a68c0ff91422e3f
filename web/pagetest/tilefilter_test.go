//go:build long

package pagetest

import (
	"fmt"
	"testing"

	"limnomap/web/browsertest"
)

// TestPageFilterOfTiles changes the filter and the style: the tiles of dots and lakes follow the filter, those of heat show all lakes.
func TestPageFilterOfTiles(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := startMap(t, "en-GB", base+"/#map=6/51/11&style=dots&risk=high,nonsense", 1280, 800)
	// all waits until all tiles that are shown have these parts of a query, and have loaded.
	all := func(style, risk string) {
		t.Helper()
		b.Do(t, browsertest.Until(fmt.Sprintf(`(() => {
			const tiles = [...document.querySelectorAll('.heatmap img')];
			const query = (tile) => new URL(tile.src).searchParams;
			return tiles.length > 0 && tiles.every((tile) => tile.complete && tile.naturalWidth > 0
				&& (query(tile).get('style') ?? 'heat') === %q && (query(tile).get('risk') ?? '') === %q);
		})()`, style, risk)))
	}
	all("dots", "high")
	setHash(t, b, "#style=dots&risk=none,closed")
	all("dots", "closed,none")
	setHash(t, b, "#style=dots&risk=low")
	setHash(t, b, "#style=dots")
	all("dots", "")
	setHash(t, b, "#style=heat&risk=low")
	all("heat", "")
	setHash(t, b, "#style=lakes&risk=low")
	all("lakes", "low")
	b.WantNoProblems(t, base)
}
