#!/usr/bin/python3
"""Writes NetCDF files with netCDF4 and h5py for the tests of this package.

make_nc.py matrix DIR   all files, with manifest.json and what netCDF4 reads back (NAME.f64)
make_nc.py seeds DIR    the small files of testdata
"""
import json
import os
import sys

import cftime
import h5py
import netCDF4 as nc
import numpy as np
from osgeo import gdal

gdal.UseExceptions()
FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC", "NETCDF4"]
SMALL = ["i1", "i2", "i4", "f4", "f8"]
ALL = SMALL + ["u1", "u2", "u4", "i8", "u8"]
rng = np.random.default_rng(19)


def types_of(fmt):
    return ALL if fmt in ("NETCDF3_64BIT_DATA", "NETCDF4") else SMALL


def numbers(shape, t):
    if t[0] == "f":
        a = rng.normal(0, 1000, shape).astype(t)
        if a.size > 4:
            a.flat[:4] = [np.nan, np.inf, -np.inf, nc.default_fillvals[t]]
        return a
    info = np.iinfo(t)
    a = rng.integers(info.min, info.max, shape, dtype=t, endpoint=True)
    if a.size > 4:
        a.flat[:4] = [info.min, info.max, 0, np.array(nc.default_fillvals[t]).astype(t)]
    return a


def raw(v):
    v.set_auto_maskandscale(False)
    return v


def types(d, fmt):
    """Every type, in 0 to 3 dimensions, and attributes of every type."""
    d.createDimension("row", 7)
    d.createDimension("column", 5)
    d.createDimension("deep", 3)
    d.title = "Grüße aus dem See"
    d.empty = ""
    for t in types_of(fmt):
        d.setncattr("number_" + t, np.array(3, t))
        d.setncattr("list_" + t, np.array([1, 2, 100], t))
    for t in types_of(fmt):
        for k, dims in enumerate([(), ("column",), ("row", "column"), ("deep", "row", "column")]):
            v = raw(d.createVariable(f"{t}_{k}", t, dims))
            v.long_name = "values of type " + t
            v[...] = numbers(tuple(len(d.dimensions[n]) for n in dims), t)
    v = d.createVariable("crs", "S1", ())
    v.grid_mapping_name = "latitude_longitude"
    v = d.createVariable("text", "S1", ("row", "column"))
    v[:] = np.full((7, 5), b"x")


def packed(d, fmt):
    """Fill values, missing values, valid ranges, scale and offset."""
    d.createDimension("n", 1000)

    def var(name, t, values, fill=None, **attributes):
        v = raw(d.createVariable(name, t, ("n",), fill_value=fill))
        for key, value in attributes.items():
            v.setncattr(key, value)
        v[:] = values

    i2 = rng.integers(-500, 500, 1000).astype("i2")
    i2[::7] = -32768
    i2[::11] = -32767
    i1 = rng.integers(-128, 127, 1000, endpoint=True).astype("i1")
    f4 = rng.normal(5, 5, 1000).astype("f4")
    f4[::9] = 9.96921e36
    f4[::13] = np.nan
    f4[::17] = -999.9
    var("plain_i2", "i2", i2)
    var("fill_i2", "i2", i2, fill=np.int16(-32768))
    var("scaled_i2", "i2", i2, fill=np.int16(-32768), scale_factor=0.01, add_offset=300.0, units="mg m-3")
    var("scaled_single_i2", "i2", i2, fill=np.int16(-32768), scale_factor=np.float32(0.01), add_offset=np.float32(3))
    var("offset_only", "i2", i2, add_offset=-5.5)
    var("range_i2", "i2", i2, scale_factor=0.5, valid_range=np.array([-100, 250], "i2"))
    var("min_i2", "i2", i2, valid_min=np.int16(-20))
    var("max_i2", "i2", i2, valid_max=np.int16(20))
    var("missing_i2", "i2", i2, missing_value=np.array([3, 4, 5], "i2"))
    var("plain_i1", "i1", i1)
    var("fill_i1", "i1", i1, fill=np.int8(-1))
    var("unsigned_i1", "i1", i1, fill=np.int8(-1), _Unsigned="true", scale_factor=0.5)
    var("unsigned_range_i1", "i1", i1, _Unsigned="true", valid_max=np.int8(-6))
    var("unsigned_i2", "i2", i2, _Unsigned="true")
    var("plain_f4", "f4", f4)
    var("fill_f4", "f4", f4, fill=np.float32(-999.9), missing_value=np.float32(9.96921e36))
    var("range_f4", "f4", f4, fill=np.float32(9.96921e36), valid_min=np.float32(0), valid_max=np.float32(10))
    var("scaled_f4", "f4", f4, fill=np.float32(9.96921e36), scale_factor=2.0, missing_value=np.float32(-999.9))
    f8 = f4.astype("f8")
    var("plain_f8", "f8", f8)
    var("nan_f8", "f8", np.where(f8 > 1e36, 1e36, f8), fill=np.nan)
    if "u2" in types_of(fmt):
        u2 = rng.integers(0, 65535, 1000, endpoint=True).astype("u2")
        u2[::5] = 65535
        var("plain_u2", "u2", u2)
        var("fill_u2", "u2", u2, fill=np.uint16(0), scale_factor=0.1)
        var("range_u1", "u1", rng.integers(0, 255, 1000, endpoint=True).astype("u1"), valid_range=np.array([1, 250], "u1"))


def records(d, fmt):
    """Several record variables, whose records are padded."""
    d.createDimension("time", None)
    d.createDimension("x", 3)
    for t in types_of(fmt):
        raw(d.createVariable("r_" + t, t, ("time", "x")))
    raw(d.createVariable("time", "f8", ("time",))).units = "days since 2000-01-01"
    raw(d.createVariable("small", "i1", ("time",)))
    raw(d.createVariable("fixed", "i2", ("x",)))[:] = [1, 2, 3]
    for t in types_of(fmt):
        d["r_" + t][:] = numbers((6, 3), t)
    d["time"][:] = np.arange(6)
    d["small"][:] = np.arange(6)


def one_record_variable(t, width):
    def make(d, fmt):
        """The records of a single record variable are not padded."""
        d.createDimension("time", None)
        d.createDimension("x", width)
        raw(d.createVariable("fixed", "i1", ("x",)))[:] = np.arange(width)
        raw(d.createVariable("only", t, ("time", "x")))[:] = numbers((9, width), t)
    return make


def no_records(d, fmt):
    d.createDimension("time", None)
    d.createDimension("x", 3)
    raw(d.createVariable("a", "f4", ("time", "x")))
    raw(d.createVariable("b", "i2", ("time",)))
    raw(d.createVariable("c", "i2", ("x",)))[:] = [7, 8, 9]


def unwritten(d, fmt):
    d.createDimension("time", None)
    d.createDimension("x", 5)
    for t in types_of(fmt):
        raw(d.createVariable("a_" + t, t, ("x",)))
        raw(d.createVariable("r_" + t, t, ("time", "x")))
    raw(d.createVariable("time", "i4", ("time",)))[:] = [1, 2, 3]
    d["r_i2"][0] = np.arange(5)


def nothing(d, fmt):
    pass


def wide(d, fmt):
    """More values than a part has, and many variables and attributes."""
    d.createDimension("time", 2)
    d.createDimension("y", 300)
    d.createDimension("x", 500)
    for k in range(60):
        d.setncattr(f"a{k}", f"text {k}" * 20)
        raw(d.createVariable(f"v{k}", "i2", ("x",)))[:] = k
    raw(d.createVariable("big", "f4", ("time", "y", "x")))[:] = rng.normal(0, 1, (2, 300, 500))


def make_times(d, fmt):
    for k, (units, calendar, value) in enumerate(TIMES):
        v = d.createVariable(f"time{k}", "f8", ())
        v.units = units
        if calendar:
            v.calendar = calendar
        v[...] = value


TIMES = [(u, c, v) for c in ("", "standard", "gregorian", "proleptic_gregorian") for u, v in [
    ("days since 1970-01-01", 20332.0), ("days since 1970-01-01 00:00:00", 20332.25), ("seconds since 1970-01-01 00:00:00", 1596283200.0),
    ("hours since 1900-01-01 00:00:0.0", 1043136.5), ("minutes since 2000-1-1 6:30", 12345.5), ("milliseconds since 1970-01-01T00:00:00Z", 1.6e12),
    ("microseconds since 2020-02-29 12:00:00", 1e12), ("days since 1858-11-17 00:00:00 UTC", 59000.75), ("days since 0001-01-01 00:00:00", 737000.0),
    ("days since 1582-10-15", 1000.0), ("days since 1600-02-29", 0.5), ("hours since 2001-01-01 00:00:00 -06:00", 5.0), ("day since 1990-01-01 12:00", -3.5),
    ("hours since 2001-01-01 00:00:00 +05:30", 5.0), ("d since 1981-01-01 00:00:00", 14000.0), ("days since 1200-03-01", 200000.0),
]] + [("days since 1970-01-01", c, 100.0) for c in ("noleap", "365_day", "360_day", "julian", "all_leap")] + [("months since 1970-01-01", "360_day", 3.0)]


def groups(d, fmt):
    """Groups, types and layouts that only NetCDF-4 has."""
    d.createDimension("lat", 6)
    d.createDimension("lon", 8)
    d.createDimension("time", None)
    d.createDimension("unlimited too", None)
    d.createVariable("lat", "f8", ("lat",))[:] = np.arange(6)
    g = d.createGroup("geo")
    h = g.createGroup("deeper")
    g.createDimension("lat", 4)
    g.note = "of a group"
    d.createVariable("outer", "f4", ("lat", "lon"))[:] = numbers((6, 8), "f4")
    g.createVariable("inner", "f4", ("lat", "lon"), zlib=True, chunksizes=(3, 3))[:] = numbers((4, 8), "f4")
    h.createVariable("innermost", "i2", ("time", "lat"), zlib=True, shuffle=False)[:] = numbers((3, 4), "i2")
    d.createVariable("short", "i2", ("time", "lon"))[:1] = numbers((1, 8), "i2")
    d.createVariable("both", "i4", ("time", "unlimited too"), fill_value=-5)[:2, :9] = numbers((2, 9), "i4")
    d.createVariable("both2", "f4", ("unlimited too", "time"), chunksizes=(2, 2))[:4, :2] = numbers((4, 2), "f4")
    d.createVariable("big_endian", "i4", ("lat", "lon"), endian="big")[:] = numbers((6, 8), "i4")
    d.createVariable("fletcher", "f8", ("lat", "lon"), fletcher32=True, zlib=True)[:] = numbers((6, 8), "f8")
    d.createVariable("lon", "f8", ("lat", "lon"))[:] = numbers((6, 8), "f8")  # the name of a dimension that it is not of
    c = d.createVariable("time", "f8", ("time", "lat"))  # a coordinate variable of two dimensions
    c[:3] = numbers((3, 6), "f8")
    strings = d.createVariable("names", str, ("lat",))
    strings[:] = np.array(list("abcdef"), object)
    strings.list = ["one", "two"]
    compound = d.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
    d.createVariable("pairs", compound, ("lat",))
    vlen = d.createVLType("i4", "list")
    d.createVariable("lists", vlen, ("lat",))
    enum = d.createEnumType("u1", "kind", {"water": 1, "land": 2})
    d.createVariable("kinds", enum, ("lat",), fill_value=0)[:] = [1, 2, 1, 2, 1, 2]
    for v in [v for group in (d, g, h) for v in group.variables.values()]:
        v.set_auto_maskandscale(False)


def grid_lonlat(lat, lon, order=("lat", "lon"), coordinates="f8", units=True, data="f4"):
    def make(d, fmt):
        sizes = {"lat": lat, "lon": lon}
        for n in order:
            d.createDimension(n, len(sizes[n]) if n in sizes else 1)
        for n, values in sizes.items():
            v = d.createVariable(n, coordinates, (n,))
            if units:
                v.units = {"lat": "degrees_north", "lon": "degrees_east"}[n]
            v[:] = values
        v = raw(d.createVariable("chl", data, order))
        v.units = "mg m-3"
        v[:] = rng.integers(0, 100, tuple(len(d.dimensions[n]) for n in order))
    return make


def grid_utm(d, fmt):
    d.createDimension("y", 20)
    d.createDimension("x", 30)
    for n, first, step in (("x", 400.15, 0.3), ("y", 5300.15, -0.3)):
        v = d.createVariable(n, "f8", (n,))
        v.standard_name = f"projection_{n}_coordinate"
        v.units = "km"
        v[:] = first + step * np.arange(len(d.dimensions[n]))
    m = d.createVariable("utm", "i4", ())
    m.grid_mapping_name = "transverse_mercator"
    m.longitude_of_central_meridian = 9.0
    m.standard_parallel = [1.0, 2.0]
    v = raw(d.createVariable("chl", "f4", ("y", "x")))
    v.grid_mapping = "utm: x y"
    v[:] = numbers((20, 30), "f4")


def swath(d, fmt):
    d.createDimension("rows", 10)
    d.createDimension("columns", 12)
    for n in ("lat", "lon"):
        v = d.createVariable(n, "f4", ("rows", "columns"))
        v.units = {"lat": "degrees_north", "lon": "degrees_east"}[n]
        v[:] = rng.normal(0, 1, (10, 12))
    v = raw(d.createVariable("chl", "f4", ("rows", "columns")))
    v.coordinates = "lat lon"
    v[:] = numbers((10, 12), "f4")
    raw(d.createVariable("other", "f4", ("rows", "columns")))


STEP = 0.25 / 112
CASES = {
    "types": types, "packed": packed, "records": records, "no_records": no_records, "unwritten": unwritten, "nothing": nothing, "wide": wide,
    "times": make_times, "swath": swath, "grid_utm": grid_utm,
    "one_i1_3": one_record_variable("i1", 3), "one_i2_1": one_record_variable("i2", 1), "one_f4_3": one_record_variable("f4", 3),
    "grid_north_up": grid_lonlat(50 - STEP * np.arange(40), 10 + STEP * np.arange(50)),
    "grid_south_up": grid_lonlat(-90 + 1 / 24 + np.arange(40) / 12, -180 + 1 / 24 + np.arange(4320) / 12, coordinates="f4", data="i1"),
    "grid_transposed": grid_lonlat(50 - STEP * np.arange(40), 10 + STEP * np.arange(50), order=("lon", "time", "lat"), units=False),
    "grid_360": grid_lonlat(89.75 - 0.5 * np.arange(20), 0.25 + 0.5 * np.arange(720)),
    "grid_split": grid_lonlat(89.75 - 0.5 * np.arange(20), (0.25 + 0.5 * np.arange(720) + 180) % 360 - 180),
    "grid_dateline": grid_lonlat(50 + 0.5 * np.arange(20), (170.25 + 0.5 * np.arange(40) + 180) % 360 - 180),
    "grid_irregular": grid_lonlat(np.degrees(np.arcsin(np.linspace(-0.9, 0.9, 50))), 10 + STEP * np.arange(50)),
    "grid_one_row": grid_lonlat(np.array([50.0]), 10 + STEP * np.arange(50)),
}
ONLY = {"groups": ["NETCDF4"]}
CASES["groups"] = groups


def plain_hdf5(path):
    """HDF5 without and with dimension scales."""
    with h5py.File(path, "w") as f:
        f["lat"] = 50 - np.arange(6.0)
        f["lon"] = 10 + np.arange(8.0)
        f["chl"] = numbers((6, 8), "f4")
        f.create_dataset("g/packed", data=numbers((6, 8), "u2"), chunks=(4, 4), compression="gzip", shuffle=True)
        f["chl"].attrs["units"] = "mg m-3"


def attributes(o):
    found = {}
    for name in o.ncattrs():
        value = o.getncattr(name)
        if isinstance(value, str):
            found[name] = {"Text": value}
        elif isinstance(value, list):
            found[name] = {"Text": " ".join(value)}
        else:
            found[name] = {"Numbers": [repr(float(x)) for x in np.atleast_1d(value)]}
    return found


def dimension_path(group, name):
    """The path of a dimension that is visible in a group."""
    while name not in group.dimensions:
        group = group.parent
    return (group.path.rstrip("/") + "/" + name).lstrip("/")


def pad_dataset(path, name, shape):
    """The values of a dataset and fill values after them. Version 4.9.0 of the library reads some of them wrongly if two dimensions are
    unlimited."""
    with h5py.File(path) as f:
        values = np.full(shape, f[name].fillvalue, "f8")
        values[tuple(slice(0, n) for n in f[name].shape)] = f[name][...]
        return values


def all_groups(g):
    found, later = [], [g]
    while later:
        g = later.pop(0)
        found.append(g)
        later += g.groups.values()
    return found


def describe(path, values=None):
    """Returns what netCDF4 says about a file. Values are appended to the file `values`: raw ones, then decoded ones."""
    variables, at = [], 0
    with nc.Dataset(path) as d:
        for g in all_groups(d):
            for name, v in g.variables.items():
                e = {"Name": (g.path.rstrip("/") + "/" + name).lstrip("/"), "Attributes": attributes(v)}
                e["Dimensions"] = [{"Name": dimension_path(g, n), "Len": len(v.get_dims()[k])} for k, n in enumerate(v.dimensions)]
                dtype = v.dtype
                readable = isinstance(dtype, np.dtype) and dtype.kind in "iuf" and not isinstance(v.datatype, nc.VLType)
                e["Type"] = dtype.name if readable else ""
                if readable and values is not None:
                    v.set_auto_maskandscale(False)
                    raw = np.asarray(v[...]).astype("f8")
                    v.set_always_mask(True)
                    v.set_auto_maskandscale(True)
                    with np.errstate(all="ignore"):
                        masked = np.ma.asarray(v[...])
                    if sum(n.isunlimited() for n in v.get_dims()) > 1:
                        raw = pad_dataset(path, name, raw.shape)
                        masked = np.ma.masked_equal(raw, raw.flat[-1])
                    decoded = np.where(np.ma.getmaskarray(masked), np.nan, np.ma.getdata(masked).astype("f8"))
                    e["Offset"], e["Count"] = at, int(raw.size)
                    values.write(raw.astype("<f8").tobytes())
                    values.write(decoded.astype("<f8").tobytes())
                    at += 16 * raw.size
                if v.dimensions == () and getattr(v, "units", "").find(" since ") > 0:
                    calendar = getattr(v, "calendar", "standard")
                    if calendar.lower() in ("standard", "gregorian", "proleptic_gregorian"):
                        t = cftime.num2date(float(v[...]), v.units, calendar)
                        # As days and microseconds since 1970, which are the same in both calendars.
                        epoch = cftime.datetime(1970, 1, 1, calendar=t.calendar)
                        delta = t - epoch
                        e["Microseconds"] = (delta.days * 86400 + delta.seconds) * 10**6 + delta.microseconds
                    else:
                        e["Calendar"] = calendar
                variables.append(e)
        return {"Attributes": attributes(d), "Variables": variables}


def matrix(out):
    files = []
    for case, make in CASES.items():
        for fmt in ONLY.get(case, FORMATS):
            files.append((f"{case}_{fmt}", fmt, make))
    files.append(("plain_HDF5", "HDF5", None))
    manifest = []
    for name, fmt, make in files:
        path = f"{out}/{name}.nc"
        if make is None:
            plain_hdf5(path)
        else:
            with nc.Dataset(path, "w", format=fmt) as d:
                make(d, fmt)
        with open(f"{out}/{name}.f64", "wb") as values:
            e = describe(path, values)
        if name.startswith(("grid_north_up", "grid_south_up", "grid_utm", "grid_360")) and fmt != "NETCDF3_64BIT_DATA":
            e["Transform"] = gdal.Open(f'NETCDF:"{path}":chl').GetGeoTransform()
        manifest.append({"Name": name} | e)
    with open(f"{out}/manifest.json", "w") as f:
        json.dump({"NetCDF": nc.__netcdf4libversion__, "Files": manifest}, f)


def seed(d, fmt):
    d.createDimension("time", None)
    d.createDimension("lat", 12)
    d.createDimension("lon", 16)
    d.title = "Seed"
    d.product_version = "V2.1.1"
    v = d.createVariable("time", "f8", ("time",))
    v.units = "days since 1970-01-01"
    v[:] = [20332.0]
    for n, first, step in (("lat", 50, -0.5), ("lon", 10, 0.5)):
        v = d.createVariable(n, "f8", (n,))
        v.units = {"lat": "degrees_north", "lon": "degrees_east"}[n]
        v[:] = first + step * np.arange(len(d.dimensions[n]))
    d.createVariable("crs", "S1", ()).grid_mapping_name = "latitude_longitude"
    deflate = {"zlib": True, "chunksizes": (1, 5, 7)} if fmt == "NETCDF4" else {}
    v = raw(d.createVariable("chl", "i2", ("time", "lat", "lon"), fill_value=np.int16(-1), **deflate))
    v.units, v.scale_factor, v.grid_mapping = "mg m-3", 0.01, "crs"
    v[0] = np.where(rng.random((12, 16)) < 0.1, -1, rng.integers(100, 900, (12, 16)))
    v = raw(d.createVariable("quality_flags", "i1", ("time", "lat", "lon")))
    v.flag_masks, v.flag_meanings = np.array([1, 2, 4], "i1"), "cloud land ice"
    v[0] = rng.integers(0, 7, (12, 16))


def seeds(out):
    for fmt in FORMATS:
        with nc.Dataset(f"{out}/seed_{fmt.lower()}.nc", "w", format=fmt) as d:
            seed(d, fmt)
    with nc.Dataset(f"{out}/seed_groups.nc", "w", format="NETCDF4") as d:
        groups(d, "NETCDF4")
    plain_hdf5(f"{out}/seed_plain.h5")
    with nc.Dataset(f"{out}/seed_swath.nc", "w", format="NETCDF3_CLASSIC") as d:
        swath(d, "NETCDF3_CLASSIC")


if __name__ == "__main__":
    command, where = sys.argv[1:]
    os.makedirs(where, exist_ok=True)
    {"matrix": matrix, "seeds": seeds}[command](where)
