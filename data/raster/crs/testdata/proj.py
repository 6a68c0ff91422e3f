"""What PROJ and GDAL make of coordinate systems, for comparison. A definition is what SetFromUserInput of GDAL takes.

proj.py points: reads lines "definition<TAB>lon lat,lon lat,...", and writes a line "x y,x y,..." for each, from the geographic system
    of the definition, so that no shift between datums is made. A point that PROJ refuses is "nan nan".
proj.py files DIRECTORY: reads lines "definition", writes DIRECTORY/N.tif for each, and prints a list of objects: the definition, its
    well-known text by dialect, and the attributes of its grid mapping in NetCDF. Only the text has the code of the whole system.
"""
import json
import math
import sys

from osgeo import gdal, osr

osr.UseExceptions()
gdal.UseExceptions()


def system(definition):
    s = osr.SpatialReference()
    s.SetFromUserInput(definition)
    s.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return s


def points():
    for line in sys.stdin:
        definition, _, lonlats = line.rstrip("\n").partition("\t")
        target = system(definition)
        source = target.CloneGeogCS()
        source.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
        transformation = osr.CoordinateTransformation(source, target)
        results = []
        for point in lonlats.split(","):
            lon, lat = map(float, point.split())
            try:
                x, y, _ = transformation.TransformPoint(lon, lat)
            except RuntimeError:
                x, y = math.nan, math.nan
            results.append(f"{x:.17g} {y:.17g}" if math.isfinite(x) else "nan nan")
        print(",".join(results))


def without_code(s):
    """Returns the system without its own code, which is the last element of WKT 1."""
    if s.GetAuthorityCode(None):
        text = s.ExportToWkt(["FORMAT=WKT1_GDAL"])
        text = text[:text.rindex(',AUTHORITY["')] + "]"
        s = osr.SpatialReference()
        s.ImportFromWkt(text)
    return s


def attribute(text):
    """Returns a number or a list of numbers of metadata, which has all as text."""
    try:
        if text.startswith("{"):
            return [float(field) for field in text.strip("{}").split(",")]
        return float(text)
    except ValueError:
        return text


def files(directory):
    results = []
    for i, line in enumerate(sys.stdin):
        definition = line.rstrip("\n")
        s = system(definition)
        wkt = {}
        for dialect in "WKT1_GDAL", "WKT1_ESRI", "WKT2_2015", "WKT2_2019":
            try:
                wkt[dialect] = s.ExportToWkt([f"FORMAT={dialect}"])
            except RuntimeError:
                pass
        s = without_code(s)
        d = gdal.GetDriverByName("GTiff").Create(f"{directory}/{i}.tif", 2, 2)
        d.SetProjection(s.ExportToWkt())
        d.SetGeoTransform((0, 1, 0, 0, 0, -1))
        d = None
        cf = {}
        try:
            gdal.GetDriverByName("netCDF").CreateCopy(f"{directory}/{i}.nc", gdal.Open(f"{directory}/{i}.tif"))
            for key, text in gdal.Open(f"{directory}/{i}.nc").GetMetadata().items():
                variable, _, name = key.partition("#")
                if variable not in ("x", "y", "lon", "lat", "Band1", "NC_GLOBAL"):
                    cf[name] = attribute(text)
        except RuntimeError:  # CF does not have all systems
            cf = {}
        results.append({"definition": definition, "wkt": wkt, "cf": cf})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    if sys.argv[1] == "points":
        points()
    else:
        files(sys.argv[2])
