// Package crs converts WGS 84 longitude and latitude to the coordinates of raster files, in pure Go and without a database
// of coordinate systems.
//
// A [System] is made from an EPSG code, from the GeoKeys of a GeoTIFF, from the attributes of a CF grid mapping, or from the code or the
// name in well-known text, whose parameters are not read. [System.Project] converts points. [System.Text] writes a System as text, which [Parse] reads.
//
// # Conventions
//
// Longitude and latitude are in degrees, longitude first; x and y are in metres, or in degrees if the system is geographic. As in
// raster files, x is always the easting and y the northing, whatever the order of axes in the EPSG registry.
//
// Datums on the ellipsoids of WGS 84 and GRS 1980, such as WGS 84, ETRS89, NAD83 and GDA94, are treated as equal. They differ by
// up to about 2 m. Datums on other ellipsoids, such as NAD27, are refused: they differ by up to several hundred metres.
//
// # What is supported
//
// Geographic coordinates in degrees from Greenwich; transverse Mercator, with UTM on WGS 84, NAD83 and ETRS89; Albers equal-area
// conic; Lambert azimuthal equal-area in all aspects; the pseudo-Mercator of web maps. Linear units are metres. Results are within
// 0.1 mm of those of PROJ in the areas for which the systems are defined.
//
// # Errors
//
// A system that this package does not know is reported as [ErrUnsupported], with its name and with a command that converts a file. A
// definition that is damaged or incomplete is reported as [ErrFormat]. Test for both with [errors.Is].
//
// Definitions may be hostile: well-known text is limited in length. A System is immutable and safe for concurrent use.
package crs
