// Package palettepng encodes images with at most 256 colours as PNG files with a palette. It is made for map tiles, which
// are large areas of few colours, and reuses its memory: an [Encoder] allocates only the file that it returns. The same
// pixels and palette always give the same bytes.
//
// Section numbers in comments refer to PNG, third edition, W3C 2025.
package palettepng
