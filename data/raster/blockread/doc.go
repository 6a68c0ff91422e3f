// Package blockread reads the blocks of a raster file, the tiles or strips of a TIFF file or the chunks of an HDF5 dataset, and decodes
// them side by side. Blocks that lie close together in the file are read at once. [Touched] finds the blocks that windows need.
package blockread
