// Package palettepng encodes images with at most 256 colours as PNG files with a palette. It is made for map tiles, which
// are large areas of few colours, and reuses its memory: an [Encoder] allocates only the file that it returns. The same
// pixels, palette and filter always give the same bytes, on all processors.
//
// Section numbers in comments refer to PNG, third edition, W3C 2025.
package palettepng
