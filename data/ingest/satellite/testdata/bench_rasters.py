"""Rasters of Germany's size, or the Earth's, for benchmarks, and how long rasterio takes for the same work.

bench_rasters.py make FILE LAYOUT            writes a raster: tiff (300 m, Germany), or the global grid of LWQ with the chunks ROWSxCOLUMNS or default
bench_rasters.py time FILE VARIABLE OUTLINES prints the seconds that rasterio takes for the median of the pixels of each outline by the centre rule
"""
import json
import sys
import time

import numpy as np
import rasterio
import rasterio.features
import rasterio.windows
import shapely.geometry
from rasterio.transform import from_origin

STEP = 1 / 448  # degrees: 300 m
WEST, NORTH, COLUMNS, ROWS = 5.5, 55.3, 4435, 3763


def values(rng):
    a = np.round(np.exp(rng.normal(2, 0.6, (ROWS, COLUMNS))), 2).astype("f4")
    a[rng.random(a.shape) < 0.15] = -9999
    return a


def make(path, layout):
    rng = np.random.default_rng(3)
    if layout == "tiff":
        profile = dict(driver="GTiff", tiled=True, blockxsize=256, blockysize=256, compress="deflate", predictor=3, width=COLUMNS, height=ROWS, count=1,
                       dtype="float32", crs="EPSG:4326", nodata=-9999, transform=from_origin(WEST, NORTH, STEP, STEP))
        with rasterio.open(path, "w", **profile) as out:
            out.write(values(rng), 1)
            out.units = ["mg m-3"]
        return
    import netCDF4

    rows, columns = 80640, 161280
    with netCDF4.Dataset(path, "w", format="NETCDF4") as d:
        d.title, d.product_version = "Lake Water Quality 300m", "V2.1.1 2025-09-14T00:00:00Z"
        for name, n in ("time", 1), ("lat", rows), ("lon", columns):
            d.createDimension(name, n)
        lat = d.createVariable("lat", "f8", ("lat",), zlib=True)
        lat.units, lat[:] = "degrees_north", 90 - (np.arange(rows) + 0.5) * STEP
        lon = d.createVariable("lon", "f8", ("lon",), zlib=True)
        lon.units, lon[:] = "degrees_east", -180 + (np.arange(columns) + 0.5) * STEP
        chunks = {} if layout == "default" else dict(chunksizes=(1, *map(int, layout.split("x"))))
        v = d.createVariable("chla_mean", "f4", ("time", "lat", "lon"), zlib=True, shuffle=True, complevel=1, fill_value=-9999, **chunks)
        v.units = "mg m-3"
        v.set_auto_maskandscale(False)
        y, x = round((90 - NORTH) / STEP), round((WEST + 180) / STEP)
        v[0, y : y + ROWS, x : x + COLUMNS] = values(rng)


def measure(path, variable, outlines):
    with open(outlines) as f:
        lakes = [shapely.geometry.Polygon(rings[0], rings[1:]) for rings in json.load(f).values()]
    begin = time.perf_counter()
    done = 0
    with rasterio.open(f"netcdf:{path}:{variable}" if variable else path) as src:
        for lake in lakes:
            window = rasterio.windows.from_bounds(*lake.bounds, transform=src.transform)
            window = window.round_offsets(op="floor").round_lengths(op="ceil")
            window = rasterio.windows.Window(window.col_off, window.row_off, window.width + 1, window.height + 1)
            pixels = src.read(1, window=window)
            inside = rasterio.features.geometry_mask([lake], pixels.shape, src.window_transform(window), invert=True)
            inside &= pixels != src.nodata
            if inside.any():
                np.median(pixels[inside])
                done += 1
    print(time.perf_counter() - begin, done)


{"make": make, "time": measure}[sys.argv[1]](*sys.argv[2:])
