// Package netcdf reads the values and the CF metadata of NetCDF files, in pure Go and over an [io.ReaderAt], so that a file behind
// HTTP range requests costs only the bytes that are needed. It reads NetCDF classic itself (CDF-1, CDF-2 and CDF-5), and NetCDF-4
// and other HDF5 files through package hdf5.
//
// A [File] is a list of variables and global attributes. [Variable.Gather] reads raw values: it takes many windows at once, reads
// each chunk that they touch exactly once, and passes the values of each window to a function. The CF conventions are separate
// steps: a [Decoder] turns raw values into values with a unit and tells missing values from valid ones, [Variable.Grid] finds the
// place of the pixels from coordinate variables, and [Variable.Times] reads times.
//
// # Conventions
//
// Values are float64: raw values of the file, before scale and offset. Integers above 2^53 are rounded. A window has a start and a
// shape with one number for each dimension of the variable, in the order of the file; the last dimension varies fastest.
// Variables and dimensions of groups have names with slashes, "group/name", without a slash in front. A name of a dimension,
// a grid mapping or a coordinate is looked up in the variable's group, then in the groups around it.
//
// Attributes are lenient, because products are: [Variable.Number] also accepts a text that is a number, and [Variable.Text] formats
// numbers. A damaged or unusual attribute is as good as absent, and a variable that cannot be read does not fail the file:
// [Variable.Err] says why.
//
// # Grids
//
// A grid is regular in both directions: its axes are one-dimensional coordinate variables of longitude and latitude or of a
// projection. The step is taken from the whole axis, since neighbouring values of a float32 axis may differ by some percent.
// Two-dimensional coordinates (swaths) and irregular axes are refused with advice.
//
// # Errors
//
// Damage is reported as [ErrFormat], a valid feature that this package does not read as [ErrUnsupported] with the name of the feature;
// test for both with [errors.Is]. Errors of the reader are passed on.
//
// # Limits
//
// Files may be hostile. A classic header has at most 8 MiB, and 65,536 dimensions, variables and attributes; counts are checked
// against the bytes that are left before memory is allocated. Gather needs what package hdf5 says.
//
// Files and variables are immutable after Open and safe for concurrent use, if the reader is.
package netcdf
