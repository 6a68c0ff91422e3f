#!/usr/bin/python3
"""Writes GeoTIFFs by GDAL, each with the values that GDAL reads back, and their list.

make_tiffs.py matrix DIR   the files of TestGDAL, about 150 x 130 pixels each
make_tiffs.py seeds DIR    small files, committed as seeds of the fuzz targets

Beside NAME.tif lies NAME.f64: all values of all bands as little-endian float64, and the mask if there is one.
manifest.json has what GDAL says about each file.
"""
import itertools
import json
import os
import sys

import numpy as np
from osgeo import gdal, osr

gdal.UseExceptions()
kind, out = sys.argv[1:]
os.makedirs(out, exist_ok=True)
W, H, TILE = (150, 130, 64) if kind == "matrix" else (40, 30, 16)
rng = np.random.default_rng(19)
BASE = (20 * np.exp(rng.normal(0, 0.5, (H, W))) * (1 + np.sin(np.arange(W) / 9))[None, :]).astype("f4")
GAPS = (np.arange(W)[None, :] + np.arange(H)[:, None]) % 50 < 20

# name: GDAL's type, values, nodata, creation options
TYPES = {
    "u8": (gdal.GDT_Byte, np.clip(BASE * 2, 1, 250).astype("u1"), 255, []),
    "i8": (gdal.GDT_Byte, (BASE - 20).clip(-100, 100).astype("i1"), -128, ["PIXELTYPE=SIGNEDBYTE"]),
    "u16": (gdal.GDT_UInt16, (BASE * 300).clip(0, 65000).astype("u2"), 65535, []),
    "i16": (gdal.GDT_Int16, ((BASE - 20) * 90).clip(-32000, 32000).astype("i2"), -32768, []),
    "u32": (gdal.GDT_UInt32, (BASE * 1e7).astype("u4"), 4294967295, []),
    "i32": (gdal.GDT_Int32, ((BASE - 20) * 1e6).astype("i4"), -2147483648, []),
    "f32": (gdal.GDT_Float32, BASE, -3.4028234663852886e38, []),
    "f32nan": (gdal.GDT_Float32, BASE, float("nan"), []),
    "f64": (gdal.GDT_Float64, BASE.astype("f8") / 3, -9999.0, []),
    "f16": (gdal.GDT_Float32, BASE, -9999.0, ["NBITS=16"]),
    "u1": (gdal.GDT_Byte, (BASE > 20).astype("u1"), None, ["NBITS=1"]),
    "u2": (gdal.GDT_Byte, (BASE % 4).astype("u1"), None, ["NBITS=2"]),
    "u4": (gdal.GDT_Byte, (BASE % 16).astype("u1"), 15, ["NBITS=4"]),
    "u7": (gdal.GDT_Byte, (BASE % 128).astype("u1"), 127, ["NBITS=7"]),
    "u12": (gdal.GDT_UInt16, (BASE * 9 % 4096).astype("u2"), 4095, ["NBITS=12"]),
    "c64": (gdal.GDT_CFloat32, BASE.astype("c8"), None, []),
}
if hasattr(gdal, "GDT_Int64"):
    TYPES["i64"] = (gdal.GDT_Int64, ((BASE - 20) * 1e12).astype("i8"), -9999, [])
    TYPES["u64"] = (gdal.GDT_UInt64, (BASE * 1e12).astype("u8"), 0, [])

TILED = ["TILED=YES", f"BLOCKXSIZE={TILE}", f"BLOCKYSIZE={TILE}"]
manifest = []


def source(t, bands=1, transform=(10.0, 0.002, 0, 53.0, 0, -0.002), epsg=4326, point=False, nodata=True):
    """Returns a dataset in memory."""
    gdal_type, values, nd, _ = TYPES[t]
    d = gdal.GetDriverByName("MEM").Create("", W, H, bands, gdal_type)
    if transform:
        d.SetGeoTransform(transform)
    s = osr.SpatialReference()
    s.ImportFromEPSG(epsg)
    d.SetProjection(s.ExportToWkt())
    if point:
        d.SetMetadataItem("AREA_OR_POINT", "Point")
    for b in range(bands):
        band = d.GetRasterBand(b + 1)
        v = np.roll(values, 7 * b, axis=1)
        if nd is not None and nodata:
            v[GAPS] = nd
            band.SetNoDataValue(nd)
        # GDAL has signed bytes only as a creation option.
        band.WriteArray(v.view("u1") if t == "i8" else v)
    return d


def record(name, signed=False):
    """Writes what GDAL reads."""
    d = gdal.Open(f"{out}/{name}.tif")
    bands = [d.GetRasterBand(b + 1) for b in range(d.RasterCount)]
    arrays = [b.ReadAsArray() for b in bands]
    if signed:
        arrays = [a.view("i1") for a in arrays]
    masked = bands[0].GetMaskFlags() == gdal.GMF_PER_DATASET
    if masked:
        arrays.append(bands[0].GetMaskBand().ReadAsArray())
    if kind == "matrix":
        np.stack([a.real.astype("<f8") for a in arrays]).tofile(f"{out}/{name}.f64")
    nd = bands[0].GetNoDataValue()
    manifest.append({
        "name": name, "width": d.RasterXSize, "height": d.RasterYSize, "bands": len(bands), "masked": masked,
        "transform": list(d.GetGeoTransform()) if d.GetGeoTransform(can_return_null=True) else None,
        "nodata": None if nd is None else str(float(nd)),
        "scale": [b.GetScale() if b.GetScale() is not None else 1 for b in bands],
        "offset": [b.GetOffset() or 0 for b in bands],
        "description": [b.GetDescription() for b in bands], "unit": [b.GetUnitType() for b in bands],
        "metadata": d.GetMetadata(),
        "epsg": int(osr.SpatialReference(d.GetProjection()).GetAuthorityCode(None) or 0) if d.GetProjection() else 0,
    })


def write(name, t, options=(), cog=False, change=None, **kw):
    d = source(t, **kw)
    if cog and change:
        change(d)
    driver = gdal.GetDriverByName("COG" if cog else "GTiff")
    d = driver.CreateCopy(f"{out}/{name}.tif", d, options=TYPES[t][3] + list(options))
    if change and not cog:
        change(d)
    d = None
    record(name, signed=t == "i8")


def masked(d):
    d.CreateMaskBand(gdal.GMF_PER_DATASET)
    d.GetRasterBand(1).GetMaskBand().WriteArray(np.where(GAPS, 0, 255).astype("u1"))


def scaled(d):
    b = d.GetRasterBand(1)
    b.SetScale(0.01)
    b.SetOffset(-5)
    b.SetDescription('chla "mean" <&>')
    b.SetUnitType("mg m-3")
    d.SetMetadata({"product": "LWQ & more", "TIFFTAG_SOFTWARE": "gen", "TIFFTAG_DATETIME": "2024:07:11 00:00:00",
                   "TIFFTAG_IMAGEDESCRIPTION": "a lake"})


def overviews(d):
    d.BuildOverviews("NEAREST", [2, 4])


def sparse(name, t, options=(), nodata=None):
    d = gdal.GetDriverByName("GTiff").Create(f"{out}/{name}.tif", W, H, 1, TYPES[t][0],
                                             TYPES[t][3] + ["SPARSE_OK=TRUE"] + TILED + list(options))
    if nodata is not None:
        d.GetRasterBand(1).SetNoDataValue(nodata)
    d.GetRasterBand(1).WriteArray(TYPES[t][1][:TILE, :TILE], TILE, 0)
    d = None
    record(name)


def matrix():
    for t, (layout, options), codec, predictor in itertools.product(
            TYPES, (("strip", []), ("tile", TILED)), ("NONE", "PACKBITS", "LZW", "DEFLATE", "ZSTD"), (1, 2, 3)):
        bits = t[1:].removesuffix("nan")
        if codec in ("NONE", "PACKBITS") and predictor > 1 or predictor == 2 and bits not in ("8", "16", "32", "64"):
            continue
        if predictor == 3 and t[0] != "f" or t[0] == "c" and codec != "NONE":
            continue
        pred = [f"PREDICTOR={predictor}"] if predictor > 1 else []
        for order in ("LITTLE", "BIG"):
            write(f"{t}_{layout}_{codec}_p{predictor}_{order.lower()}", t, options + pred + [f"COMPRESS={codec}", f"ENDIANNESS={order}"])
    for codec in ("LZMA", "LERC", "LERC_ZSTD", "JPEG", "WEBP", "JXL"):
        if codec in gdal.GetDriverByName("GTiff").GetMetadataItem("DMD_CREATIONOPTIONLIST"):
            write(f"codec_{codec}", "u8", [f"COMPRESS={codec}"], **({"bands": 3} if codec == "WEBP" else {}))
    for codec in ("CCITTRLE", "CCITTFAX3", "CCITTFAX4"):
        write(f"codec_{codec}", "u1", [f"COMPRESS={codec}"])
    for interleave, (layout, options), t in itertools.product(("PIXEL", "BAND"), (("strip", []), ("tile", TILED)), ("u8", "i16", "f32", "u1", "f64")):
        for predictor in (1, 2, 3):
            if predictor == 3 and t[0] != "f" or predictor == 2 and t == "u1":
                continue
            write(f"bands_{interleave}_{layout}_{t}_p{predictor}", t, options + ["COMPRESS=DEFLATE", f"INTERLEAVE={interleave}", f"PREDICTOR={predictor}"], bands=3)
    gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
    write("mask_strip", "f32", ["COMPRESS=DEFLATE"], change=masked, nodata=False)
    write("mask_tile", "i16", TILED + ["COMPRESS=LZW", "BIGTIFF=YES"], change=masked, nodata=False, bands=2)
    write("mask_cog", "f32", ["COMPRESS=DEFLATE", f"BLOCKSIZE={TILE * 2}", "OVERVIEW_COUNT=2"], cog=True, change=masked, nodata=False)
    write("overviews", "f32", TILED + ["COMPRESS=ZSTD"], change=overviews)
    for codec in ("NONE", "LZW", "DEFLATE", "ZSTD"):
        write(f"cog_{codec}", "f32", [f"COMPRESS={codec}", "BLOCKSIZE=128", "OVERVIEW_COUNT=2", "PREDICTOR=" + ("NO" if codec == "NONE" else "YES")], cog=True)
        write(f"one_strip_{codec}", "f32", [f"COMPRESS={codec}", f"BLOCKYSIZE={H}"])
        write(f"big_{codec}", "i16", [f"COMPRESS={codec}", "BIGTIFF=YES"])
        write(f"big_be_{codec}", "f32", TILED + [f"COMPRESS={codec}", "BIGTIFF=YES", "ENDIANNESS=BIG"])
    write("zstd_22", "f32", TILED + ["COMPRESS=ZSTD", "ZSTD_LEVEL=22", "PREDICTOR=3"])
    write("point", "f32", point=True)
    write("point_rotated", "f32", point=True, transform=(500000, 20, 3, 5400000, 2, -20), epsg=32632)
    write("rotated", "f32", transform=(500000, 20, 3, 5400000, 2, -20), epsg=32632)
    write("south_up", "f32", transform=(10, 0.01, 0, 40, 0, 0.01))
    write("no_transform", "f32", transform=None)
    write("scaled", "i16", change=scaled)
    for epsg in (3857, 32618, 25832, 3035, 5070):
        write(f"epsg_{epsg}", "f32", epsg=epsg, transform=(1e6, 30, 0, 2e6, 0, -30))
    for t, nodata in (("f32", None), ("f32", -9999), ("f32", float("nan")), ("u8", 255), ("u8", -9999), ("i16", -32768), ("f64", -1e300), ("u16", 1e6), ("i16", 12.7), ("u1", None)):
        sparse(f"sparse_{t}_{nodata}", t, ["COMPRESS=DEFLATE"], nodata)
    sparse("sparse_raw", "f32")
    write("alpha", "u8", ["ALPHA=YES"], bands=4)
    gcps = [gdal.GCP(10 + x, 50 - y, 0, 30 * x, 30 * y) for x in range(3) for y in range(2)]
    write("gcps", "f32", transform=None, change=lambda d: d.SetGCPs(gcps, d.GetProjection()))


def seeds():
    gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES")
    write("deflate_tiles_p3", "f32", TILED + ["COMPRESS=DEFLATE", "PREDICTOR=3"])
    write("lzw_strips_p2", "i16", ["COMPRESS=LZW", "PREDICTOR=2"])
    write("zstd_tiles", "f32nan", TILED + ["COMPRESS=ZSTD"])
    write("packbits_strips", "u8", ["COMPRESS=PACKBITS"])
    write("raw_big_endian", "u16", ["ENDIANNESS=BIG"])
    write("bigtiff_planes", "u8", TILED + ["COMPRESS=DEFLATE", "BIGTIFF=YES", "INTERLEAVE=BAND"], bands=2)
    write("mask_cog", "u8", ["COMPRESS=DEFLATE", "BLOCKSIZE=128", "OVERVIEW_COUNT=1"], cog=True, change=masked, nodata=False)
    write("one_bit", "u1", ["COMPRESS=DEFLATE"])
    write("scaled", "u8", ["COMPRESS=DEFLATE"], change=scaled)
    write("rotated_point", "u4", ["COMPRESS=LZW"], transform=(500000, 20, 3, 5400000, 2, -20), epsg=32632, point=True)
    sparse("sparse", "f32", ["COMPRESS=LZW"], -9999)
    write("half_p3", "f16", ["COMPRESS=DEFLATE", "PREDICTOR=3"])


if kind == "seeds":
    seeds()
else:
    matrix()
    with open(f"{out}/manifest.json", "w") as f:
        json.dump({"gdal": gdal.__version__, "files": manifest}, f)
