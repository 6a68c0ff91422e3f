"""Reads polygons in pixel coordinates from stdin, as JSON: [{"rings": [[[x, y], ...], ...]}, ...], and writes which pixels rasterio takes by
the rule of centres and which ones Shapely finds inside, each as [[y, x0, x1], ...] of runs."""
import json, math, sys
import numpy, rasterio.features, shapely.geometry, shapely.prepared
from affine import Affine

TOLERANCE = 1e-7


def runs(grid, left, top):
    found = []
    for y, row in enumerate(grid):
        edges = numpy.flatnonzero(numpy.diff(numpy.concatenate(([0], row, [0]))))
        found += [[y + top, int(a) + left, int(b) + left] for a, b in zip(edges[::2], edges[1::2])]
    return found


answers = []
for lake in json.load(sys.stdin):
    rings = [[tuple(p) for p in ring] for ring in lake["rings"]]
    xs, ys = [p[0] for ring in rings for p in ring], [p[1] for ring in rings for p in ring]
    left, top = math.floor(min(xs)) - 1, math.floor(min(ys)) - 1
    shape = (math.ceil(max(ys)) + 2 - top, math.ceil(max(xs)) + 2 - left)
    # Integer offsets and flips do not round coordinates of this size, so both sides see the same ones.
    north_up = Affine(1, 0, left, 0, -1, -top)
    upward = {"type": "Polygon", "coordinates": [[(x, -y) for x, y in ring + ring[:1]] for ring in rings]}
    centre = rasterio.features.rasterize([(upward, 1)], out_shape=shape, transform=north_up, dtype="uint8")
    answer = {"centre": runs(centre, left, top)}
    polygon = shapely.geometry.Polygon(rings[0], rings[1:])
    if polygon.is_valid:
        inside = shapely.prepared.prep(polygon)
        full = numpy.zeros(shape, "uint8")
        # A pixel wholly inside has its centre inside, and one two pixels from the shore is wholly inside if its centre is: only the others
        # need a test.
        shore = {"type": "MultiLineString", "coordinates": [ring for ring in upward["coordinates"]]}
        touched = numpy.pad(rasterio.features.rasterize([(shore, 1)], out_shape=shape, transform=north_up, dtype="uint8", all_touched=True), 2)
        near = sum(touched[2 + i : 2 + i + shape[0], 2 + j : 2 + j + shape[1]] for i in (-2, -1, 0, 1, 2) for j in (-2, -1, 0, 1, 2)) > 0
        full[:] = centre
        for y, x in numpy.argwhere(numpy.logical_and(centre, near)):
            a, b = x + left, y + top
            full[y, x] = inside.covers(shapely.geometry.box(a + TOLERANCE, b + TOLERANCE, a + 1 - TOLERANCE, b + 1 - TOLERANCE))
        answer["full"] = runs(full, left, top)
    answers.append(answer)
json.dump({"versions": "rasterio %s, GDAL %s, Shapely %s" % (rasterio.__version__, rasterio.__gdal_version__, shapely.__version__), "answers": answers}, sys.stdout)
