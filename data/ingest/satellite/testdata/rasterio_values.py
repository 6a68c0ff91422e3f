"""Makes rasters of chlorophyll in several coordinate systems, and what rasterio and shapely say about lakes in them.

rasterio_values.py make DIR        writes DIR/<epsg>.tif
rasterio_values.py expect DIR      reads DIR/outlines.json ({id: [ring of [lon, lat]]}), writes DIR/expected.json
rasterio_values.py pixels DIR      compares each DIR/<epsg>/*.tif, the pixels of a lake, with DIR/<epsg>.tif, and prints how many it compared
"""
import glob
import json
import sys

import numpy as np
import rasterio
import rasterio.features
import rasterio.warp
import shapely.geometry
import shapely.prepared
from rasterio.transform import from_origin

STEP = {4326: 0.0022321428571428575, 32632: 300, 3035: 300, 3857: 450}
SIZE = 500
LON, LAT = 9.3, 50.3  # of the middle


def make(folder):
    rng = np.random.default_rng(19)
    for epsg, step in STEP.items():
        x, y = rasterio.warp.transform("EPSG:4326", f"EPSG:{epsg}", [LON], [LAT])
        values = np.exp(rng.normal(2, 1, (SIZE, SIZE))).astype("f4")
        values[rng.random((SIZE, SIZE)) < 0.15] = -9999
        profile = dict(driver="GTiff", width=SIZE, height=SIZE, count=1, dtype="float32", crs=f"EPSG:{epsg}", nodata=-9999, tiled=True, blockxsize=128,
                       blockysize=128, compress="deflate", predictor=3, transform=from_origin(x[0] - SIZE / 2 * step, y[0] + SIZE / 2 * step, step, step))
        with rasterio.open(f"{folder}/{epsg}.tif", "w", **profile) as out:
            out.write(values, 1)
            out.units = ["mg m-3"]


def wholly_inside(shape, transform):
    """The pixels of the raster that lie in the shape, one by one."""
    prepared = shapely.prepared.prep(shape)
    inside = rasterio.features.geometry_mask([shape], (SIZE, SIZE), transform, all_touched=True, invert=True)
    for row, col in np.argwhere(inside):
        x, y = transform.c + col * transform.a, transform.f + row * transform.e
        inside[row, col] = prepared.covers(shapely.geometry.box(x, y + transform.e, x + transform.a, y))
    return inside


def expect(folder):
    with open(f"{folder}/outlines.json") as f:
        outlines = json.load(f)
    expected = {}
    for epsg in STEP:
        with rasterio.open(f"{folder}/{epsg}.tif") as src:
            values, transform = src.read(1), src.transform
        of_lake = {}
        for lake, rings in outlines.items():
            projected = []
            for ring in rings:
                lon, lat = zip(*ring)
                x, y = rasterio.warp.transform("EPSG:4326", f"EPSG:{epsg}", lon, lat)
                projected.append(list(zip(x, y)))
            shape = shapely.geometry.Polygon(projected[0], projected[1:])
            centre = rasterio.features.geometry_mask([shape], (SIZE, SIZE), transform, all_touched=False, invert=True)
            for name, mask in ("centre", centre), ("full", wholly_inside(shape, transform)):
                pixels = values[mask].astype("f8")
                pixels = pixels[pixels != -9999]
                some = len(pixels) > 0
                of_lake.setdefault(name, {})[lake] = dict(
                    inside=int(mask.sum()), valid=len(pixels), median=float(np.median(pixels)) if some else 0, mean=float(pixels.mean()) if some else 0,
                    p10=float(np.percentile(pixels, 10)) if some else 0, p90=float(np.percentile(pixels, 90)) if some else 0)
        expected[epsg] = of_lake
    with open(f"{folder}/expected.json", "w") as f:
        json.dump(expected, f)


def pixels(folder):
    compared = 0
    for epsg in STEP:
        with rasterio.open(f"{folder}/{epsg}.tif") as src:
            source, transform = src.read(1), src.transform
        for name in sorted(glob.glob(f"{folder}/{epsg}/*.tif")):
            with rasterio.open(name) as kept:
                assert kept.crs.to_epsg() == epsg and np.isnan(kept.nodata) and kept.transform.a == transform.a, (name, kept.profile)
                values, corner = kept.read(1), kept.transform
            column, row = ~transform * (corner.c, corner.f)
            assert abs(column - round(column)) < 1e-6 and abs(row - round(row)) < 1e-6, (name, column, row)
            column, row = round(column), round(row)
            whole = np.full(values.shape, np.nan)  # a lake at the edge has pixels outside of the raster
            y0, y1, x0, x1 = max(0, -row), min(values.shape[0], SIZE - row), max(0, -column), min(values.shape[1], SIZE - column)
            whole[y0:y1, x0:x1] = source[row + y0 : row + y1, column + x0 : column + x1]
            whole[whole == -9999] = np.nan
            valid = ~np.isnan(values)
            assert np.all(np.abs(np.log(values[valid] / whole[valid])) <= np.log(1.02) / 2 + 1e-5), name
            compared += int(valid.sum())
    print(compared)


def shares(folder):
    """Compares the lines of shares.csv with the pixels that are kept: how much of them is in each class, and two percentiles."""
    compared = 0
    with open(f"{folder}/shares.csv") as f:
        for line in f:
            name, medium, high, above, *got = line.strip().split(",")
            medium, high, above = float(medium), float(high), above == "true"
            with rasterio.open(f"{folder}/{name}.tif") as kept:
                values = kept.read(1)
            values = np.round(values[~np.isnan(values)].astype("f8"), 2)
            reached = (values > medium, values > high) if above else (values >= medium, values >= high)
            want = [len(values), 1 - reached[0].mean(), reached[0].mean() - reached[1].mean(), reached[1].mean(), np.percentile(values, 10), np.percentile(values, 90)]
            # Shares have four decimals, and percentiles two, as the values have.
            for g, w, near in zip(map(float, got), want, (0, 5.1e-5, 5.1e-5, 5.1e-5, 0.0101, 0.0101)):
                assert abs(g - w) <= near, (line, want)
            compared += 1
    print(compared)


{"make": make, "expect": expect, "pixels": pixels, "shares": shares}[sys.argv[1]](sys.argv[2])
