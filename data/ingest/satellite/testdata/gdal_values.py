"""Makes satellite files of several kinds, and what GDAL and NumPy say about lakes in them.

gdal_values.py make DIR          writes files and DIR/cases.json
gdal_values.py shared DIR GEN    makes files by the generators in the folder GEN instead
gdal_values.py expect DIR        reads DIR/<case>.outlines.json ({id: [ring of [lon, lat]]}), writes DIR/expected.json
gdal_values.py pixels DIR        compares the stored pixels in DIR/<case>.pixels.csv (lake, x and y of the centre, state, µg/l) with the files
"""
import csv
import datetime
import json
import math
import os
import subprocess
import sys

import netCDF4
import numpy as np
from osgeo import gdal, ogr, osr

gdal.UseExceptions()
SIZE = 240
STEP = 1 / 448
WEST, NORTH = 10.0, 50.0
FILL = np.float32(9.96921e36)
FLAGS = ["cloud", "land", "snow_ice", "floating_macrophytes", "turbidity_invalid", "floating_cyanobacteria", "bright_pixels"]
MASKS = [64, 1, 8, 2, 512, 16, 4]  # another order than that of the product's manual: only the file's own counts


def day(text):
    return datetime.date.fromisoformat(text)


def of_year(year, number):
    return datetime.date(year, 1, 1) + datetime.timedelta(number - 1)


def points(rng, west, south, east, north):
    """Where lakes are, some of them beyond the edge."""
    return [[west + (east - west) * x, south + (north - south) * y] for x, y in rng.random((40, 2)) * 1.02 - 0.01]


def case(folder, name, file, kind, last, first=None, composite="", **more):
    c = dict(name=name, file=file, kind=kind, date=str(last), period_start=str(first or ""), composite=composite, options={}, **more)
    cases.append(c)
    return c


cases = []


def add_points(folder, c, radius=0.02):
    """Lakes all over a raster, by GDAL's reading of where it is."""
    ds = open_raster(folder, c)
    t, inverse = ds.GetGeoTransform(), transformation(ds, True)
    corners = []
    for x, y in (0, 0), (ds.RasterXSize, 0), (0, ds.RasterYSize), (ds.RasterXSize, ds.RasterYSize):
        corners.append(inverse(t[0] + x * t[1] + y * t[2], t[3] + x * t[4] + y * t[5]))
    lon, lat = zip(*corners)
    height = max(lat) - min(lat)
    c["points"] = points(np.random.default_rng(len(c["name"])), min(lon), min(lat), max(lon), max(lat))
    c["radius"] = min(radius, height / 8)


# What follows makes files.


def field(rng, size=SIZE):
    """Chlorophyll that is alike in neighbouring pixels, some of it high."""
    y, x = np.mgrid[:size, :size]
    return (15 * np.exp(1.5 * np.sin(x / 23) * np.cos(y / 31) + rng.normal(0, 0.4, (size, size)))).astype("f4")


def write_tiff(folder, file, a, epsg=4326, corner=(WEST, NORTH, STEP), nodata=None, unit="", mask=None, options=()):
    kind = {"uint8": gdal.GDT_Byte, "float32": gdal.GDT_Float32}[str(a.dtype)]
    d = gdal.GetDriverByName("GTiff").Create(f"{folder}/{file}", a.shape[1], a.shape[0], 1, kind, ["TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", *options])
    x, y, step = corner
    d.SetGeoTransform((x, step, 0, y, 0, -step))
    s = osr.SpatialReference()
    s.ImportFromEPSG(epsg)
    d.SetProjection(s.ExportToWkt())
    b = d.GetRasterBand(1)
    if nodata is not None:
        b.SetNoDataValue(nodata)
    if unit:
        b.SetUnitType(unit)
    b.WriteArray(a)
    if mask is not None:
        gdal.SetConfigOption("GDAL_TIFF_INTERNAL_MASK", "NO")
        d.CreateMaskBand(gdal.GMF_PER_DATASET)
        b.GetMaskBand().WriteArray(np.where(mask, 255, 0).astype("u1"))


def write_netcdf(folder, file, variables, attributes, days=None, ascending=False, step=STEP):
    """variables are name: (values, fill, attributes). days are the time coordinate and maybe its bounds."""
    with netCDF4.Dataset(f"{folder}/{file}", "w") as d:
        d.setncatts(attributes)
        lat = NORTH - (np.arange(SIZE) + 0.5) * step
        for name, n in ("time", 1), ("nv", 2), ("lat", SIZE), ("lon", SIZE):
            d.createDimension(name, n)
        for name, axis, units in ("lat", lat[::-1] if ascending else lat, "degrees_north"), ("lon", WEST + (np.arange(SIZE) + 0.5) * step, "degrees_east"):
            v = d.createVariable(name, "f8", (name,))
            v.units, v.standard_name, v[:] = units, {"lat": "latitude", "lon": "longitude"}[name], axis
        if days:
            v = d.createVariable("time", "f8", ("time",))
            v.units, v.standard_name, v[:] = "days since 1970-01-01", "time", [days[0]]
            if len(days) > 1:
                v.bounds = "time_bnds"
                d.createVariable("time_bnds", "f8", ("time", "nv"))[0] = days[1:]
        for name, (a, fill, more) in variables.items():
            v = d.createVariable(name, a.dtype, ("time", "lat", "lon"), zlib=True, chunksizes=(1, 64, 64), fill_value=fill)
            v.set_auto_maskandscale(False)
            v.setncatts(more)
            v[0] = a[::-1] if ascending else a


def make(folder):
    rng = np.random.default_rng(39)
    hidden = rng.random((SIZE, SIZE)) < 0.2
    far = np.arange(SIZE) < 60  # columns where other things are than elsewhere

    # Chlorophyll as Oregon's: negative numbers and zeros below detection, in a projection.
    chl = field(rng)
    clean = rng.random(chl.shape) < np.where(np.arange(SIZE) % 120 < 60, 0.7, 0.05)
    chl[clean] = rng.choice(np.float32([-2.652, -0.4, 0, 0.003]), clean.sum())
    chl[hidden] = -3.4028235e38
    chl[:, far & (rng.random(SIZE) < 0.5)] = -999
    write_tiff(folder, "chl_2025-07-01_2025-07-07.tif", chl, 32632, (570000, 5540000, 300), -3.4028234663852886e38, "mg m-3", options=["COMPRESS=DEFLATE", "PREDICTOR=3"])
    case(folder, "negative", "chl_2025-07-01_2025-07-07.tif", "tiff", day("2025-07-07"), day("2025-07-01"))

    # Indexes, with the numbers of land, cloud and no data.
    dn = np.clip(np.log10(field(rng)) * 60 + 60, 0, 253).astype("u1")
    dn[rng.random(dn.shape) < np.where(far, 0.6, 0.03)] = 0
    dn[hidden] = rng.choice(np.uint8([254, 255]), hidden.sum())
    name = "L20251942025200.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif"
    write_tiff(folder, name, dn, 5070, (570000, 2640000, 300), options=["COMPRESS=LZW"])
    case(folder, "cyan", name, "index", of_year(2025, 200), of_year(2025, 194), "maximum", formula=[0.011714, -4.1870866, 253])
    noaa = np.minimum(dn, 249)
    noaa[hidden] = rng.choice(np.uint8([250, 251, 252, 253, 254, 255]), hidden.sum())
    name = "ts_2025.0804_0810.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif"
    write_tiff(folder, name, noaa, 3857, (1113000, 6446000, 400))
    case(folder, "noaa", name, "index", day("2025-08-10"), day("2025-08-04"), "maximum", formula=[3 / 250, -4.2, 249])

    # Copernicus: flags by their meanings, ice, floating cyanobacteria, other quantities, a range of the file.
    chl = field(rng)
    chl[rng.random(chl.shape) < np.where(far, 0.2, 0.01)] = 450
    chl[-50:] = np.where(rng.random((50, SIZE)) < 0.15, np.float32(0.02), chl[-50:])
    lost = hidden.copy()
    flags = np.where(hidden, MASKS[0], 0).astype("u2")
    y, x = np.mgrid[:SIZE, :SIZE]
    ice = (x - 170) ** 2 + (y - 60) ** 2 < 45**2
    flags[ice] |= MASKS[2]
    flags[rng.random(flags.shape) < 0.1] |= MASKS[4]
    flags[rng.random(flags.shape) < 0.3] |= MASKS[1] | MASKS[5]
    lost[120:160] = True
    floating = np.clip((chl - 10) / 60, 0, 1).astype("f4")
    floating[hidden & (rng.random(hidden.shape) < 0.5)] = FILL
    hide = lambda a, where, fill=FILL: np.where(where, fill, a).astype("f4")
    name = "c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc"
    write_netcdf(folder, name, {
        "chla_mean": (hide(chl, lost), FILL, dict(units="mg m-3", valid_min=np.float32(0.05), valid_max=np.float32(400))),
        "chla_uncertainty": (hide(20 + 30 * rng.random(chl.shape), hidden), FILL, dict(units="%")),
        "turbidity_mean": (hide(chl / 3, hidden), FILL, dict(units="NTU")),
        "secchi_depth_mean": (hide(900 / (chl + 10), lost), FILL, dict(units="cm")),
        "floating_cyanobacteria": (floating, FILL, dict(units="1")),
        "num_obs": (np.where(lost, -1, rng.integers(0, 9, chl.shape)).astype("i2"), np.int16(-1), {}),
        "quality_flags": (flags, None, dict(flag_masks=np.uint16(MASKS), flag_meanings=" ".join(FLAGS))),
    }, dict(title="Lake Water Quality 300m", product_version="V2.1.1", time_coverage_start="2025-09-01T00:00:00Z", time_coverage_end="2025-09-10T23:59:59Z"), [20332])
    case(folder, "lwq", name, "netcdf", day("2025-09-10"), day("2025-09-01"), "mean", variable="chla_mean", unit=1,
         flags=dict(zip(FLAGS, MASKS)), turbidity=["turbidity_mean", 1, 0], secchi=["secchi_depth_mean", 0.01, 0], version="V2.1.1")

    # Lakes CCI: latitudes that ascend, classes of ice, temperature by its quality.
    name = "ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc"
    write_netcdf(folder, name, {
        "chla_mean": (hide(field(rng), hidden), FILL, dict(units="mg.m-3")),
        "lake_surface_water_temperature": (hide(273.15 + 20 + rng.normal(0, 3, chl.shape), hidden), FILL, dict(units="kelvin")),
        "lswt_quality_level": (rng.integers(0, 6, chl.shape).astype("i1"), np.int8(-128), {}),
        "lake_ice_cover_class": (np.where(ice, 2, 1).astype("i1"), np.int8(-1), dict(flag_values=np.int8([1, 2, 3]), flag_meanings="water ice cloud")),
    }, dict(title="ESA Lakes CCI", id="ESACCI-LAKES-L3S"), [18475], ascending=True, step=1 / 120)
    case(folder, "lakes-cci", name, "netcdf", day("2020-08-01"), variable="chla_mean", unit=1, ice_class=2, version="V2.1.0")

    # SNAP: an expression for the pixels that count; logarithms in packed numbers.
    name = "S3A_OL_2_WFR____20250705T093000_20250705T093300_20250706T120000_snap_c2rcc.nc"
    expression = "!quality_flags.cloud and not (quality_flags.land or quality_flags.snow_ice) && conc_chl >= 0.5 && unc < 8 and (quality_flags & 512) == 0"
    chl = field(rng)
    write_netcdf(folder, name, {
        "conc_chl": (chl, FILL, dict(units="mg m^-3", valid_pixel_expression=expression)),
        "unc": (hide(chl * rng.random(chl.shape), rng.random(chl.shape) < 0.05), FILL, dict(units="mg m^-3")),
        "quality_flags": (flags, None, dict(flag_masks=np.uint16(MASKS), flag_meanings=" ".join(FLAGS))),
    }, {})
    case(folder, "expression", name, "netcdf", day("2025-07-05"), variable="conc_chl", unit=1, flags=dict(zip(FLAGS, MASKS)), expression=True)
    name = "S3A_OL_2_WFR____20250705T093000_20250705T093300_20250706T120000_chl_nn_log10.nc"
    packed = np.where(hidden, 255, np.clip(np.round((np.log10(field(rng)) + 2) / 0.02), 0, 254)).astype("u1")
    write_netcdf(folder, name, {"CHL_NN": (packed, np.uint8(255), dict(units="lg(re mg.m-3)", scale_factor=np.float32(0.02), add_offset=np.float32(-2)))}, {})
    case(folder, "logarithms", name, "netcdf", day("2025-07-05"), variable="CHL_NN", unit=1, base=10)

    # A month with bounds, a day of NASA's that ends after midnight, and mg/l.
    name = "chl_monthly.nc"
    write_netcdf(folder, name, {"chl": (hide(field(rng) / 1000, hidden), FILL, dict(units="mg l-1", cell_methods="time: mean"))}, {}, [18993, 18993, 19024])
    case(folder, "month", name, "netcdf", day("2022-01-31"), day("2022-01-01"), "mean", variable="chl", unit=1000)
    name = "AQUA_MODIS.20200712.L3m.DAY.CHL.chlor_a.4km.nc"
    write_netcdf(folder, name, {"chlor_a": (hide(field(rng), hidden, np.float32(-32767)), np.float32(-32767), dict(units="mg m^-3"))},
                 dict(time_coverage_start="2020-07-12T00:20:00Z", time_coverage_end="2020-07-13T02:20:00Z"))
    case(folder, "nasa", name, "netcdf", day("2020-07-12"), variable="chlor_a", unit=1)

    name = "ESACCI-OC-L3S-CHLOR_A-MERGED-1M_MONTHLY_4km_GEO_PML_OCx-202201-fv6.0.nc"
    write_netcdf(folder, name, {"chlor_a": (hide(field(rng), hidden), FILL, dict(units="milligram m-3", cell_methods="time: mean"))},
                 dict(time_coverage_start="202201010000Z", time_coverage_end="202201312359Z"))
    case(folder, "oc-cci", name, "netcdf", day("2022-01-31"), day("2022-01-01"), "mean", variable="chlor_a", unit=1, version="V6.0")
    name = "LC08_L2SP_194024_20200806_20210330_02_T1_chl.tif"
    write_tiff(folder, name, field(rng), 32633, (400000, 5540000, 120), unit="mg/m3")
    case(folder, "landsat", name, "tiff", day("2020-08-06"))
    write_tiff(folder, "sentinel_20m_2025-07-02.tif", hide(field(rng), hidden, -1), 32632, (570000, 5540000, 20), -1, "mg m-3")
    case(folder, "sentinel", "sentinel_20m_2025-07-02.tif", "tiff", day("2025-07-02"))

    # Masks, and a number for no data that the type cannot hold.
    chl = field(rng)
    chl[hidden] = 999
    write_tiff(folder, "mask_20250701.tif", chl, unit="ug/l", mask=~hidden)
    case(folder, "mask", "mask_20250701.tif", "tiff", day("2025-07-01"))
    number = np.clip(field(rng), 0, 250).astype("u1")
    number[rng.random(number.shape) < 0.1] = 0
    write_tiff(folder, "bytes_20250701.tif", number, nodata=-9999)
    case(folder, "bytes", "bytes_20250701.tif", "tiff", day("2025-07-01"))["options"]["Scale"] = 1
    for c in cases:
        add_points(folder, c)


def shared(folder, generators):
    subprocess.run([sys.executable, f"{generators}/gen_tif.py", folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    last = day("2025-07-01")
    tiffs = ["crs_4326", "crs_3857", "crs_32618", "crs_32632", "crs_25832", "crs_3035", "point", "bigtiff", "bigtiff_be", "be_f8", "scaled", "cog_zstd", "cog_f4", "sparse",
             "f4nan_tile_ZSTD_p3", "i4_tile_LZW_p2", "u2_strip_DEFLATE_p2"]
    for name in tiffs:
        c = case(folder, name, name + ".tif", "tiff", last)
        c["options"] = dict(Scale=1, Date=str(last))
    name = "L20251822025188.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif"
    os.rename(f"{folder}/u1_tile_LZW_p2.tif", f"{folder}/{name}")
    case(folder, "u1_cyan", name, "index", of_year(2025, 188), of_year(2025, 182), "maximum", formula=[0.011714, -4.1870866, 253])
    name = "ts_2025.0804_0810.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif"
    os.rename(f"{folder}/u1_strip_ZSTD_p2.tif", f"{folder}/{name}")
    case(folder, "u1_noaa", name, "index", day("2025-08-10"), day("2025-08-04"), "maximum", formula=[3 / 250, -4.2, 249])
    for c in cases:
        add_points(folder, c)

    # Without the files of other chunks, which take minutes: the tests of data/raster/hdf5 have them.
    path = f"{generators}/gen_nc.py"
    with open(path) as f:
        source = "".join(line for line in f if not line.startswith("lwq('lwq_"))
    sys.argv = [path, folder]
    exec(compile(source, path, "exec"), dict(__file__=path, __name__="generator"))
    meanings = ("bright_pixels cloud snow_ice l1_invalid land land_contaminated atmospheric_correction_failure turbidity_invalid chla_invalid tsm_invalid "
                "floating_cyanobacteria floating_macrophytes_or_mixed_pixel").split()
    netcdf = [
        case(folder, "lwq", "c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc", "netcdf", day("2025-09-10"), day("2025-09-01"), "mean", variable="chla_mean", unit=1,
             flags={m: 1 << i for i, m in enumerate(meanings)}, turbidity=["turbidity_mean", 1, 0], version="V2.1.1"),
        case(folder, "packed", "lwq_packed_i16.nc", "netcdf", last, variable="chla_mean", unit=1),
        case(folder, "cci", "ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc", "netcdf", day("2020-08-01"), variable="chla_mean", unit=1, version="V2.1.0"),
    ]
    netcdf[1]["options"] = dict(Date=str(last))
    with open(f"{generators}/../bench/lakes_1892.csv") as f:
        lakes = [[float(r["lon"]), float(r["lat"])] for r in csv.DictReader(f)]
    for c in netcdf:
        c["points"], c["radius"] = lakes[::15], 0.018


# What follows reads them.


def open_raster(folder, c, variable=None):
    path = f"{folder}/{c['file']}"
    if c["kind"] != "netcdf":
        return gdal.Open(path)
    return gdal.OpenEx(f'NETCDF:"{path}":{variable or c["variable"]}', gdal.OF_RASTER, open_options=["HONOUR_VALID_RANGE=NO"])


def transformation(ds, inverse=False):
    lonlat, own = osr.SpatialReference(), ds.GetSpatialRef()
    lonlat.ImportFromEPSG(4326)
    if own is None or own.IsGeographic():
        return lambda x, y: (x, y)
    for s in lonlat, own:
        s.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    t = osr.CoordinateTransformation(own, lonlat) if inverse else osr.CoordinateTransformation(lonlat, own)
    return lambda x, y: t.TransformPoint(x, y)[:2]


class Window:
    """The pixels of a lake: those whose centre is in its outline."""

    def __init__(self, ds, rings):
        t, to = ds.GetGeoTransform(), transformation(ds)
        projected = [[to(x, y) for x, y in ring] for ring in rings]
        inverse = gdal.InvGeoTransform(t)
        pixels = np.array([gdal.ApplyGeoTransform(inverse, x, y) for ring in projected for x, y in ring])
        low, high = np.floor(pixels.min(0)).astype(int) - 1, np.ceil(pixels.max(0)).astype(int) + 1
        shape = high - low
        corner = gdal.ApplyGeoTransform(t, int(low[0]), int(low[1]))
        mem = gdal.GetDriverByName("MEM").Create("", int(shape[0]), int(shape[1]), 1, gdal.GDT_Byte)
        mem.SetGeoTransform((corner[0], t[1], t[2], corner[1], t[4], t[5]))
        vector = ogr.GetDriverByName("Memory").CreateDataSource("")
        layer = vector.CreateLayer("")
        polygon = ogr.Geometry(ogr.wkbPolygon)
        for ring in projected:
            g = ogr.Geometry(ogr.wkbLinearRing)
            for x, y in ring:
                g.AddPoint_2D(x, y)
            polygon.AddGeometry(g)
        feature = ogr.Feature(layer.GetLayerDefn())
        feature.SetGeometry(polygon)
        layer.CreateFeature(feature)
        gdal.RasterizeLayer(mem, [1], layer, burn_values=[1])
        mask = mem.ReadAsArray() == 1
        self.all = int(mask.sum())  # also outside of the raster
        size = np.array([ds.RasterXSize, ds.RasterYSize])
        start, end = np.clip(low, 0, size), np.clip(high, 0, size)
        self.box = [int(start[0]), int(start[1]), int(end[0] - start[0]), int(end[1] - start[1])]
        self.mask = mask[start[1] - low[1] : end[1] - low[1], start[0] - low[0] : end[0] - low[0]]

    def read(self, ds):
        """The raw numbers of the pixels in the raster, and which GDAL says are valid."""
        if min(self.box[2:]) <= 0 or not self.mask.any():
            return np.zeros(0), np.zeros(0, bool)
        b = ds.GetRasterBand(1)
        raw = b.ReadAsArray(*self.box).astype("f8")[self.mask]
        return raw, b.GetMaskBand().ReadAsArray(*self.box)[self.mask] != 0


def scaled(ds, raw):
    b = ds.GetRasterBand(1)
    return raw * (b.GetScale() or 1) + (b.GetOffset() or 0)


def digits(f, n=4):
    """A number as it is stored: exact to n digits."""
    return "" if f is None or math.isnan(f) else f"{f:.{n}f}".rstrip("0").rstrip(".")


def hundredths(f):
    return math.floor(abs(f) * 100 + 0.5) / 100 * (-1 if f < 0 else 1)


def chlorophyll(c, ds, w):
    """The numbers of the pixels in µg/l or of an index, NaN for none; which of them are out of range; and what these would be."""
    raw, valid = w.read(ds)
    if c["kind"] == "index":
        slope, intercept, last = c["formula"]
        value = np.where(raw == 0, 0, 10 ** (slope * raw + intercept))
        return np.where((raw <= last) & valid, value, np.nan), np.zeros(len(raw), bool), np.full(len(raw), np.nan)
    number = scaled(ds, raw)
    valid &= np.isfinite(raw)
    b = ds.GetRasterBand(1)
    nodata = b.GetNoDataValue()
    declared = nodata is not None and not (b.DataType == gdal.GDT_Byte and not 0 <= nodata <= 255)
    if not declared and c["kind"] == "tiff":
        valid &= (number != 0) & ~((number < 0) & (number == np.trunc(number)))
    value = (c.get("base", 0) ** number if "base" in c else number) * c.get("unit", 1)
    about = ds.GetMetadata()
    limit = lambda name, other: np.float32(about.get(f"{c.get('variable')}#{name}", other))
    ranged = (raw >= limit("valid_min", -np.inf)) & (raw <= limit("valid_max", np.inf))
    possible = (value > -99) & (value <= 100_000)
    strange = valid & ~(ranged & possible)
    would = np.where(strange & possible, np.maximum(value, 0), np.nan)
    return np.where(valid & ranged & possible, value, np.nan), strange, would


def counted(c, folder, ds, w):
    """The numbers of the pixels as chlorophyll returns them, less those that do not count; and which have ice."""
    other = lambda name: open_raster(folder, c, name)
    value, strange, would = chlorophyll(c, ds, w)
    iced = np.zeros(len(value), bool)
    flag = {}
    if "flags" in c:
        bits = w.read(other("quality_flags"))[0].astype(int)
        flag = {name: bits & mask != 0 for name, mask in c["flags"].items()}
    if c.get("expression"):
        unc, known = w.read(other("unc"))
        with np.errstate(invalid="ignore"):
            good = ~flag["cloud"] & ~flag["land"] & ~flag["snow_ice"] & (value >= 0.5) & known & (unc < 8) & (bits & 512 == 0)
        value, strange = np.where(good, value, np.nan), strange & good
    elif "snow_ice" in flag:
        iced = flag["snow_ice"]
    elif "ice_class" in c:
        iced = w.read(other("lake_ice_cover_class"))[0] == c["ice_class"]
    return np.where(iced, np.nan, value), strange & ~iced, would, iced


def row(c, folder, w, counts):
    ds = open_raster(folder, c)
    other = lambda name: open_raster(folder, c, name)
    value, strange, would, iced = counted(c, folder, ds, w)
    n, cut = w.all, (w.all - len(value)) / w.all if w.all else 0
    if n < 3 or 2 * (n - len(value)) >= n:
        return None
    counts["out_of_range"] += int(strange.sum())
    counts["floored"] += int((value < 0).sum())
    would = would[strange & ~np.isnan(would)]
    value = np.maximum(value[~np.isnan(value)], 0)
    valid, strange = len(value), int(strange.sum())
    r = dict(n_inside=n, n_valid=valid, chl={}, flags=[], quality="", version=c.get("version", ""), p10="", p90="")
    if "turbidity" in c:
        floating, known = w.read(other("floating_cyanobacteria"))
        scum = int((known & (floating >= 0.5)).sum())
        if scum:
            r["flags"].append("scum_possible")
            r["scum_percent"] = digits(hundredths(100 * scum / n), 2)
    for column, least, wanted in ("turbidity", 0, None), ("secchi", 0, None), ("temperature", -10, "lake_surface_water_temperature"):
        if column in c or c["name"] == "lakes-cci" and wanted:
            name, factor, offset = c.get(column, [wanted, 1, -273.15])
            raw, known = w.read(other(name))
            if wanted:
                known &= w.read(other("lswt_quality_level"))[0] >= 4
            if known.sum() >= 3:
                r[column] = digits(hundredths(np.median(factor * raw[known] + offset)), 2)
    few = valid < 3 or valid < 0.1 * n
    if few:
        if 2 * iced.sum() > n:
            r["flags"].append("ice")
        r["gap"] = "ice" if 2 * iced.sum() > n else "too few pixels" if valid else "cloud or no data"
        return r
    least = 10 ** (c["formula"][0] + c["formula"][1]) * (1 - 1e-9) if "formula" in c else 0  # powers of NumPy and Python differ in the last bit
    statistics = dict(median=np.median(value), mean=np.where(value < least, least / 2, value).mean(), p90=np.percentile(value, 90))
    share = strange / (strange + valid)
    of = lambda v: v
    if "formula" in c:
        of = lambda ci: 0 if 6620 * ci - 3.07 < 3.07 else 6620 * ci - 3.07
        r["cells"] = {name: str(round(1e8 * v)) if v >= least else "" for name, v in statistics.items()}
    for name, v in statistics.items():
        chl = of(v)
        if "formula" in c and chl < 3.07:
            r["chl"][name] = "<3.07"
        else:
            r["chl"][name] = "<0.02" if hundredths(float(f"{min(chl, 1500):.4f}")) == 0 else digits(min(chl, 1500))
        r.setdefault("biased", {})[name] = abs(int((would > v).sum()) - int((would < v).sum())) / (strange + valid) > 0.05
        r.setdefault("out_of_range", {})[name] = bool(share > 0.05 or chl > 1500)
    r["p10"], r["p90"] = (digits(min(of(np.percentile(value, q)), 1500)) for q in (10, 90))
    if "turbidity" in c:
        relative, known = w.read(other("chla_uncertainty"))
        relative = relative[known & (relative >= 0)]
        if len(relative):
            r["uncertainty"] = {name: digits(min(np.median(relative) / 100 * v, 1500)) for name, v in statistics.items()}
        observed, known = w.read(other("num_obs"))
        r["version"] += f" {np.mean(observed[known & (observed >= 0)]):.0f} observations"
    if valid < 0.2 * n or n < 10:
        r["flags"].append("few_pixels")
    r["quality"] = "poor" if valid < 0.2 * n or share > 0.2 else "suspect" if cut > 0.1 else ""
    return r


def expect(folder):
    with open(f"{folder}/cases.json") as f:
        every = json.load(f)
    expected = {}
    for c in every:
        with open(f"{folder}/{c['name']}.outlines.json") as f:
            outlines = json.load(f)
        counts = dict(out_of_range=0, floored=0)
        ds = open_raster(folder, c)
        rows = {lake: row(c, folder, Window(ds, rings), counts) for lake, rings in outlines.items()}
        expected[c["name"]] = dict(counts=counts, rows={lake: r for lake, r in rows.items() if r})
    with open(f"{folder}/expected.json", "w") as f:
        json.dump(expected, f)


def pixels(folder):
    with open(f"{folder}/cases.json") as f:
        every = json.load(f)
    for c in every:
        with open(f"{folder}/{c['name']}.outlines.json") as f:
            outlines = json.load(f)
        with open(f"{folder}/{c['name']}.pixels.csv") as f:
            lines = list(csv.reader(f))
        ds = open_raster(folder, c)
        inverse = gdal.InvGeoTransform(ds.GetGeoTransform())
        least = 10 ** (c["formula"][0] + c["formula"][1]) * (1 - 1e-9) if "formula" in c else 0
        of_lake, compared = {}, 0
        for lake in {line[0] for line in lines}:
            w = Window(ds, outlines[lake])
            rows, columns = np.nonzero(w.mask)
            places = zip((rows + w.box[1]).tolist(), (columns + w.box[0]).tolist())
            of_lake[lake] = dict(zip(places, zip(*(a.tolist() for a in counted(c, folder, ds, w)))))
        for lake, x, y, state, chl in lines:
            x, y = gdal.ApplyGeoTransform(inverse, float(x), float(y))
            if not (0 <= x < ds.RasterXSize and 0 <= y < ds.RasterYSize):
                assert state == "no_data", (c["name"], lake, x, y, state)
                continue
            assert abs(x % 1 - 0.5) < 1e-3 and abs(y % 1 - 0.5) < 1e-3, (c["name"], lake, x, y)
            value, strange, _, iced = of_lake[lake].pop((math.floor(y), math.floor(x)))
            what = (c["name"], lake, x, y, state, chl, value, strange, iced)
            compared += 1
            if math.isnan(value):
                assert state == ("out_of_range" if strange else "no_data") or state == "ice" and iced, what
                continue
            if "formula" in c:
                value = 6620 * value - 3.07 if value >= least and 6620 * value - 3.07 >= 3.07 else 0
            if value <= 0:
                assert state == "below_limit", what
                continue
            assert state == "value" and abs(math.log(float(chl) / min(max(value, 0.01), 1500))) <= math.log(1.02) / 2 + 1e-6, what
        left = {lake: len(of) for lake, of in of_lake.items() if of}
        assert not left and compared > 500, (c["name"], compared, left)
        print(c["name"], compared)


if sys.argv[1] in ("expect", "pixels"):
    {"expect": expect, "pixels": pixels}[sys.argv[1]](sys.argv[2])
else:
    command, to = sys.argv[1:3]
    {"make": make, "shared": shared}[command](*sys.argv[2:])
    with open(f"{to}/cases.json", "w") as f:
        json.dump(cases, f)
