// Package picture has what the pictures with words share, legends and those of one lake: the fonts with their widths, and how numbers, words
// and symbols are written in SVG. A [Fonts] is for one picture; all else is safe for concurrent use.
package picture
