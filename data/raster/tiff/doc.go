// Package tiff reads the pixel values of GeoTIFF and Cloud Optimized GeoTIFF files, in pure Go and over an [io.ReaderAt], so that
// a file behind HTTP range requests costs only the bytes that are needed.
//
// A [File] is a list of full-resolution images, nearly always one. An [Image] has the structure and the metadata of one of them:
// its type, nodata value, scale, position on the map and GeoKeys. [Image.Gather] reads values: it takes many windows at once,
// reads and decompresses each tile or strip that they touch exactly once, and passes the values of each window to a function.
// Overviews are never used for values.
//
// # Conventions
//
// Windows and pixels are in image coordinates: x is the column and grows to the right, y is the row and grows downwards, (0, 0)
// is the upper left pixel, and a window excludes its Max. Bands count from 0; GDAL and its tools count them from 1. Values are
// float64: raw values of the file, without scale and offset, palette indexes for palette images. Integers above 2^53 are rounded.
// A tile that is not in the file (a sparse file) has the nodata value, or 0 without one, as in GDAL. Only the file itself is read:
// no world file, no external mask or overviews, and an .aux.xml only as [Options].
//
// # What is supported
//
// Classic TIFF and BigTIFF in both byte orders; strips and tiles; bands interleaved by pixel or in planes of their own; no
// compression, PackBits, LZW, deflate and Zstandard; horizontal and floating-point predictors; unsigned integers of 1 to 16, 32 and
// 64 bits, signed integers of 8 to 64 bits, floating-point numbers of 16, 24, 32 and 64 bits.
//
// # Errors
//
// Damage is reported as [ErrFormat], a valid feature that this package does not read, such as JPEG or LERC compression, as
// [ErrUnsupported] with the name of the feature; test for both with [errors.Is]. An image with an unsupported feature is still
// listed, so that its metadata can be read, and [Image.Gather] returns the error. Errors of the reader are passed on.
//
// # Limits
//
// Files may be hostile. Every count and length is checked against the size of the file or a fixed limit before memory is
// allocated: a file has at most 4,096 directories and 8 MiB of tag values; a row of a strip or tile has at most 16 MiB.
// Tiles and strips above 4 MiB are decoded as a stream and never held whole. Gather needs about 2 MiB for each worker with
// usual tiles, and starts fewer workers than asked for rather than exceed about 48 MiB.
//
// Files and images are immutable after Open and safe for concurrent use, if the reader is.
package tiff
