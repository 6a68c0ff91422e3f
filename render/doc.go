// Package render draws the lakes of one view into a map tile: a pure function from a [Layer] and a [Spec] to the bytes
// of a PNG. It also draws the legends of the colour maps.
//
// # Concepts
//
// A [Renderer] holds the colour maps and what else all tiles share. A [Layer] is one week's lakes, projected and put in
// spatial order once. A [Spec] names a tile, its scale, style and colour map. A [Fingerprint] tells whether two layers
// give the same tile without drawing it.
//
// # The value field
//
// In the style [Heat], each lake i with a value c_i (µg/l) has two Gaussian kernels of the distance d on the screen, in
// pixels of scale 1, a wide one and a narrow, heavier one:
//
//	g_i = exp(-d²/2σ²)                     σ = 2^(size/4) pixels
//	w_i = g_i + 600·exp(-d²/2(0.25σ)²)
//
// A pixel shows the kernel-weighted mean of the logarithm, and is the more opaque the nearer lakes are:
//
//	value   = exp(Σ w_i·ln c_i / Σ w_i)
//	opacity = 0.86·min(1, (1 - Π(1-t_i)) / 0.97)    with 1-t_i = exp(-4·g_i), so that Π(1-t_i) = exp(-4·Σ g_i)
//
// The wide kernel makes a surface that one reads from afar; without the narrow one a bloom would vanish in the average
// of clean neighbours. The product saturates: at a lake's own pixel, one lake and a hundred look the same, so a crowd
// of clean lakes keeps the colour of clean lakes. Nothing is normalised per tile. Concentrations below 0.5 µg/l are
// drawn as 0.5, half of what satellites detect in inland waters.
//
// By zoom, σ is at least
//
//	zoom  0    1    2    3    4    5    6    7    8    9    10   11 and more
//	σ px  2.4  2.4  2.8  3.4  4.0  4.8  5.7  6.7  6.7  8.0  8.0  9.5
//
// and larger for a lake whose water is wider than such a blob: then the blob, where it is at least half as opaque as at
// its centre, covers the area of the water, up to a σ of 32 pixels. A lake without a known area counts as 0.2 km². A
// kernel ends 4.3σ to each side, where it is a ten-thousandth of its height; it is lowered by that, so that it has no edge.
//
// A lake without a current value leaves no trace, because any colour would be read as a value. In the style [Dots] it
// is a grey ring, beneath the markers of all lakes with a value, which lie in ascending order of it. Those of
// the highest class are larger. Around a marker runs a dark outline, or a light casing if its own colour is dark, so
// that each stands out on white and on dark maps.
//
// # Waters
//
// In the style [Lakes], each lake's water has the colour of its value. From zoom 9 on it is the inside of the lake's
// outline, where the data have one that is at least as wide as the smallest disc; else a disc of the lake's area, of
// 1.5 to 3 pixels' radius at least. A line of one pixel runs around the water, outside of it, in the colours that go around
// markers. A lake without a value is half transparent and grey, with a grey line and, where there is room, hatched: so it
// differs from any value by form too.
//
// Higher classes lie above lower ones, so that no bloom is hidden by a lake that has none. Within a class smaller waters
// lie above larger ones, so that a pond on an island is seen; lakes without a value count as of the lowest class.
//
// A pixel's cover is counted in sixteen samples, which are inside the water by the even-odd rule, in whole numbers. Lakes
// that reach far are searched apart from the others, so that one large lake costs only the tiles that it touches: these
// read all points of its outline for their zoom, and draw those near them.
//
// # Many lakes
//
// With few lakes near a tile each is stamped: rows times columns of its separable kernel. At zooms where a tile can have
// more than 4,096 lakes with a value in it, the field is blurred instead: lakes are binned by pixels, each shared among
// the four whose centres it lies between, and the bins are summed along their rows and then along columns. So a lake
// costs little more than to find it. Lakes wider than the smallest blob are always stamped. Where the world has at most
// sixteen pixels for each lake, the bins are made once for all tiles, which then cost the same for ten thousand lakes as
// for a million; and of the lakes in one pixel only the one with the highest value has a marker, or a disc of the
// smallest size.
//
// Sharing a lake between pixels widens it, by a sixth of a pixel's square in variance; the kernels that blur are narrower
// by as much. Blurs then differ from stamps by at most 0.002 of opacity and 3 % of the value in the mean, a fifth of a
// colour's width, and nowhere by more than 0.03 of opacity: at zooms 0 and 1, and by a fifth of that from zoom 4 on.
// Which way it is, a zoom decides for all of its tiles. Bins are whole numbers of shares, and sums in 64 bits, so that a
// hundred thousand lakes of one value in one place are of that value.
//
// # Exactness
//
// Lakes and pixels share one grid per zoom, a sixteenth of a pixel wide, in Web Mercator (EPSG:3857) with its origin in
// the north-west. A pixel's sums are made of tabled kernels in 32-bit floating point, lake by lake in the order of the
// layer, each product and each sum rounded by itself (no fused multiply-add). Therefore
//
//   - tiles are crops of one picture of the world, to the byte, across the antimeridian too, and scale 2 samples the
//     same field twice as finely;
//   - the bytes depend neither on the order of the lakes nor on the clock, the number of processors, or whether they have
//     vector instructions;
//   - the pixel that holds a lone lake has the colour that [colormap.Map] gives its value, to the hundredth.
//
// The tables and projected places come from package math, whose last bit may differ between processor architectures; a
// table entry or a place changes by that only where it lies on the edge of rounding. The map ends at 85.0511° north and
// south; lakes beyond are left out. Longitudes 180 and -180 are one.
//
// # Opacities and colours
//
// A tile's colours are entries of one palette for the whole map. Its 12 opacities are 0.05 to 0.86 at equal distances,
// because an eye sees equal steps of opacity as equal, on white and on dark maps. At the last all 32 colours of the map
// have an entry; at the fainter ones neighbours of a class share one where that moves no pixel by more than a CIE76 of
// 1.5: the default map has 3 colours at the first opacity, 16 at the sixth, 199 entries in all. A map whose colours lie
// further apart than the 255 entries allow shares more: viridis up to 1.9. No entry serves two classes. From zoom 10 on,
// where lakes are seen one by one, the step from one opacity to the next is dithered by a pattern that is part of the
// same grid.
//
// Against the formula in 64 bits, composed over white and over #2b2b2b, 300 tiles of zoom 5 to 10 differ, where opacity is
// above 0.1, by
//
//	                                       CIE76  mean  largest  PSNR
//	in the 32 colours of the map                  1.05  4.6      43.8 dB
//	in its colours without steps in a class       1.23  6.1      43.4 dB
//
// # Use
//
// Renderers and layers are safe for concurrent use. Callers may test for [ErrUnknownStyle], [colormap.ErrUnknown] and
// [ErrOutOfRange].
//
// Sources: kernel regression after Nadaraya (1964) and Watson (1964); ordered dither after Bayer (1973); PNG, third
// edition, W3C 2025.
package render
