// Package render draws map tiles: a pure function from a [Layer] and a [Spec] to the bytes of a PNG.
//
// # Concepts
//
// A [Renderer] has the colour maps and all else that tiles share. A [Layer] is the lakes of one week: their geometry, which
// all weeks of a snapshot share, and the values of the week. A [Spec] names a tile, its scale, style and colour map. A
// [Fingerprint] identifies what a tile shows: tiles with equal fingerprints are equal. Renderers and layers are safe for
// concurrent use. Callers may test for [ErrUnknownStyle], [ErrNoFilter], [colormap.ErrUnknown] and [ErrOutOfRange].
//
// Drawing takes three steps. A query finds the lakes whose marks touch the tile; the painter of the style turns each into a
// mark, which is all that the picture depends on; and it draws the marks as palette entries. Fingerprints are hashes of the
// marks.
//
// # The style Heat
//
// Each lake i with a value c_i (µg/l) has a Gaussian kernel of the distance d in pixels of scale 1:
//
//	g_i = exp(-d²/2σ²)                     σ = 2^(size/4) pixels, 3.2 for a small lake that is alone from zoom 9 on
//
// A pixel shows the kernel-weighted mean of the logarithm over the lakes of one class, and is the more opaque the nearer lakes are:
//
//	value   = exp(Σ g_i·ln c_i / Σ g_i)             of the class on top
//	opacity = 0.86·min(1, (1 - Π(1-t_i)) / 0.95)    with 1-t_i = exp(-4·g_i), so that Π(1-t_i) = exp(-4·Σ g_i)
//
// The highest class fades to white in place of nothing: below an opacity of 0.6 its entries are up to three times as opaque and as much paler, so that they look the
// same on white and are a pale rim on a dark map.
//
// A worse class lies on top of a better one as a whole disc, around which the better one fades; in a crowd of better lakes less is left of it. keepTopGo has the rule.
//
// σ is the same at all zooms but for that one: 3.4 pixels for a small lake that is alone below zoom 9, smaller where the nearest other site is near that does not share the disc, down to 0.7 pixels (from zoom 8 on less so for high ones), and up to
// 32 pixels for a lake whose water is wider. A lake with an outline of at least 6 pixels has, below the discs, the inside of the outline, softened by
// a Gaussian of 1.5 pixels, and the smallest disc at its own point. In a crowded cell of 16 pixels the worst high lake
// has a core, up to zoom 9. Old values (see [snapshot.OldAfter]) have a quarter of the weight. Sites without a value leave grey
// traces with a thin dark edge, by their outline or as a disc, where the field is less opaque than these.
//
// At zooms 10 and 11 the waters of the style Lakes are drawn above the field: their opacity rises from 0.86 to 1 and their lines appear by thirds; the field is a glow around
// them, which has half of its opacity at 11. From 12 on there are only these waters. Their discs are at least as large as those of the field, at all zooms.
//
// Concentrations below 0.5 µg/l are drawn as 0.5, and those above 100 as 100. docs/heat-field.md explains the choices. A tile's colours are
// entries of one palette for all tiles below zoom 10, and of another one for 10, 11 and from 12 on: up to 32 colours at 12 opacities, or 7 where the field fades. No entry serves two classes. The
// steps between opacities are dithered.
//
// # The styles Dots and Lakes
//
// [Dots] draws a marker per lake in ascending order of value, above the grey rings of lakes without one. Its shape is that of the class
// of the value. Up to zoom 6 a cell of a fixed grid with many lakes has one symbol instead, with their number and the shares of the classes, of which
// the worst has a least part of the ring. [Lakes] draws each water: the inside of its outline if known and at least 6 pixels wide or high, else a disc of its area. A site outside of
// its outline also has a disc of the smallest size. Higher classes are drawn above lower ones, and within a class small waters above
// large ones. Waters without a value are grey, half transparent and hatched.
//
// All markers and waters have a white rim and within it a thin dark line, grey without a value. Up to zoom 8, discs of waters in a crowd are smaller and have
// no rim, and below 2.5 pixels no line, except those of the highest class. Old values (see [snapshot.OldAfter]) are
// translucent, and of equal values they are below the others.
//
// Both draw a sign above everything else for each lake with a [snapshot.Mark]: for a worse lake the marker of its level within a white and
// a dark ring, for [snapshot.Closed] a dark disc with a white bar, with or without a value. Closed lakes are above the others. Signs are at
// the lake's own point, also in the style Lakes; in Dots a marked lake has no other marker. The style Heat has no signs: it shows the
// chlorophyll and nothing else.
//
// # Many lakes
//
// With few lakes near a tile each is stamped: rows times columns of its separable kernel. At zooms where a tile can contain
// more than 4,096 lakes with a value, or a cell of 16 pixels 256 of them, lakes are binned by pixels, each shared among the nearest ones, and the bins
// are blurred along rows and columns. Of 256 or more in such a cell, one is drawn for each square of 2 pixels, so that the shares of the classes are those of
// the lakes, from zoom 4 on a high one if fewer than 2,048 lie in the cell. Lakes with an outline, or with a larger disc than the smallest, are always stamped. Where the world has at most
// sixteen pixels per lake, the bins are made once for all tiles, and of the lakes in one pixel only the one with the
// highest value has a marker, and of the marked ones only the gravest a sign.
// Blurred and stamped fields differ on average by at most 0.007 of opacity and 2.2 % of the value, and where no lakes are left out by 0.0015 and 0.6 %.
//
// # Exactness
//
// Lakes and pixels share one grid per zoom, a sixteenth of a pixel wide, in Web Mercator (EPSG:3857) with its origin in the
// north-west. Sums are 32-bit floating-point numbers, added lake by lake in the order of the layer, without fused
// multiply-add. Therefore
//
//   - tiles are crops of one picture of the world, to the byte, across the antimeridian too, and scale 2 samples the
//     same field twice as finely;
//   - the bytes do not depend on the order of the lakes, the clock, the number of processors, or vector instructions;
//   - the pixel that contains a lone lake has the colour that [colormap.Map] gives its value, to the hundredth.
//
// The last bit of package math may differ between processor architectures; it matters only at the edge of rounding. The map
// ends at 85.0511° north and south; lakes beyond are omitted. Longitudes 180 and -180 are the same.
//
// Sources: kernel regression after Nadaraya (1964) and Watson (1964); ordered dither after Bayer (1973); PNG, third
// edition, W3C 2025.
package render
