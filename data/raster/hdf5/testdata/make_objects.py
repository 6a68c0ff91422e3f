#!/usr/bin/python3
"""Writes HDF5 files by h5py, and what h5py says about them.

make_objects.py DIR          the files of TestObjects
make_objects.py DIR seeds    small files, committed as seeds of the fuzz targets

manifest.json lists the files with their objects in the order of their names or of their creation. Numbers that JSON does not have are
written as text.
"""
import json
import math
import os
import subprocess
import sys

import h5py
import numpy as np

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
VERSIONS = {
    "earliest": ("earliest", "latest"),
    "v108": ("v108", "v108"),
    "v110": ("v110", "v110"),
    "latest": ("latest", "latest"),
}


def number(v):
    v = v.item() if hasattr(v, "item") else v
    if isinstance(v, bool):
        return int(v)
    if not np.isscalar(v):
        raise ValueError("no number")
    if isinstance(v, np.longdouble):
        v = float(v)
    if isinstance(v, float) and not math.isfinite(v):
        return str(v)
    return v


def text(v):
    s = v.decode() if isinstance(v, bytes) else str(v)
    s.encode()  # or fail
    return s


def attribute(f, obj, name):
    """What the values of an attribute are."""
    a = h5py.h5a.open(obj.id, name.encode())
    space = a.get_space()
    said = {"Name": name, "Shape": [0] if space.get_simple_extent_type() == h5py.h5s.NULL else list(a.shape)}
    if said["Shape"] == [0]:
        return said
    v = obj.attrs[name]
    dtype = a.dtype
    if h5py.check_ref_dtype(dtype) == h5py.Reference:
        said["References"] = [f[r].name for r in np.ravel(v)]
    elif h5py.check_vlen_dtype(dtype) not in (None, str, bytes):
        base = h5py.check_vlen_dtype(dtype)
        flat = [e for one in np.ravel(v) for e in one]
        if h5py.check_ref_dtype(np.dtype(base)) == h5py.Reference:
            said["References"] = [f[r].name for r in flat]
        elif np.dtype(base).kind in "iuf":
            said["Floats"] = [number(e) for e in flat]
        else:
            said["Unknown"] = "lists of " + str(base)
    elif h5py.check_string_dtype(dtype) is not None or dtype.kind == "S":
        said["Strings"] = [text(e) for e in np.ravel(np.asarray(v, dtype=object))]
    elif dtype.kind in "iufb":
        said["Floats"] = [number(e) for e in np.ravel(v)]
    elif dtype.subdtype is not None and dtype.subdtype[0].kind in "iuf":
        said["Floats"] = [number(e) for e in np.ravel(v)]
        said["Shape"] = list(a.shape)
    else:
        said["Refused"] = True
    return said


def attributes(f, obj):
    names = []
    h5py.h5a.iterate(obj.id, lambda n: names.append(n.decode()), index_type=h5py.h5.INDEX_NAME)
    said = []
    for n in names:
        said.append(attribute(f, obj, n))
    return said


def walk(f, group, into):
    plist = h5py.h5g.open(f.id, group.name.encode()).get_create_plist()
    order = plist.get_link_creation_order() & h5py.h5p.CRT_ORDER_TRACKED
    names = []
    group.id.links.iterate(lambda n: names.append(n.decode()), idx_type=h5py.h5.INDEX_CRT_ORDER if order else h5py.h5.INDEX_NAME)
    into.append({"Path": group.name, "Group": True, "Names": names, "Attributes": attributes(f, group)})
    for n in names:
        link = group.get(n, getlink=True)
        path = group.name.rstrip("/") + "/" + n
        if isinstance(link, h5py.ExternalLink):
            into.append({"Path": path, "Error": "unsupported"})
            continue
        try:
            o = group[n]
        except (KeyError, ValueError) as e:
            into.append({"Path": path, "Error": "not found" if isinstance(e, KeyError) else "any"})
            continue
        except RuntimeError:  # too many links
            into.append({"Path": path, "Error": "damaged"})
            continue
        if isinstance(o, h5py.Group):
            if isinstance(link, h5py.HardLink) and path.count("/") < 6:
                walk(f, o, into)
        elif isinstance(o, h5py.Dataset):
            into.append(dataset(f, o, path))
        else:
            into.append({"Path": path, "Error": "not found"})


def dataset(f, d, path):
    plist = d.id.get_create_plist()
    null = d.shape is None
    said = {
        "Path": path,
        "Shape": [0] if null else list(d.shape),
        "MaxShape": [0] if null else [-1 if n is None else n for n in d.maxshape],
        "Chunks": list(d.chunks) if d.chunks else None,
        "Compact": plist.get_layout() == h5py.h5d.COMPACT,
        "Type": d.dtype.newbyteorder("=").name if d.dtype.kind in "iuf" else "",
        "Attributes": attributes(f, d),
    }
    if d.dtype.kind in "iuf" and plist.fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED:
        said["Fill"] = number(d.fillvalue)
    if d.dtype.kind in "iuf" and not plist.get_external_count() and not d.is_virtual:
        said["Large"] = bool(not null and d.size > 20000)
        if not said["Large"]:
            said["Values"] = [] if null else [number(v) for v in np.ravel(d[()])]
    return said


def write(name, build, low, **how):
    path = os.path.join(out, name + ".h5")
    with h5py.File(path, "w", libver=VERSIONS[low], **how) as f:
        build(f)
    return path


def many_links(f):
    """Groups whose links are in symbol tables of two levels, or in fractal heaps with indirect blocks."""
    d = f.create_dataset("d", data=np.int8(1))
    for n in (0, 1, 7, 9, 30, 700):
        g = f.create_group(f"with {n}")
        for i in range(n):
            g[f"link {i * 7919 % 3000:04} " + "x" * (i % 40)] = d
    deep = f
    for i in range(5):
        deep = deep.create_group(f"deep{i}")
    deep["d"] = d


def long_names(f):
    """More than half a megabyte of links: indirect blocks of a fractal heap with indirect blocks."""
    g = f.create_group("g")
    for i in range(800):
        g[f"link {i} " + "x" * 1000] = h5py.SoftLink("/" + "y" * 100)


def ordered_links(f):
    """Links and attributes in the order of their creation."""
    for n in (5, 40):
        g = f.create_group(f"with {n}", track_order=True)
        for i in range(n):
            g[f"{i * 17 % 41:02}"] = h5py.SoftLink("/with 5")
            g.attrs[f"a{i * 17 % 41:02}"] = i


def links(f):
    d = f.create_dataset("group/data", data=np.arange(5, dtype="i2"))
    f["second name"] = d
    f["soft"] = h5py.SoftLink("/group/data")
    f["group/relative"] = h5py.SoftLink("data")
    f["soft group"] = h5py.SoftLink("group")
    f["dangling"] = h5py.SoftLink("/nothing")
    f["circle"] = h5py.SoftLink("/circle")
    f["external"] = h5py.ExternalLink("other.h5", "/data")
    f["group/cycle"] = f["group"]
    f["named type"] = np.dtype("<f4")


def text_type(size, padding, charset=h5py.h5t.CSET_ASCII):
    t = h5py.h5t.C_S1.copy()
    t.set_size(size)
    t.set_strpad(padding)
    t.set_cset(charset)
    return t


def low_attribute(obj, name, t, data):
    a = h5py.h5a.create(obj.id, name.encode(), t, h5py.h5s.create(h5py.h5s.SCALAR))
    a.write(np.array(data), mtype=t)


def reference_list(*objects):
    refs = np.empty(len(objects), dtype=h5py.ref_dtype)
    refs[:] = [o.ref for o in objects]
    return refs


def attribute_kinds(f):
    d = f.create_dataset("d", data=np.zeros((2, 3), "f4"))
    a = d.attrs
    for t in ("i1", "u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8", ">i8", "<u8", ">u8"):
        limits = np.iinfo(t)
        a["numbers " + t] = np.array([limits.min, 0, 1, limits.max], dtype=t)
    for t in ("<f2", ">f2", "<f4", ">f4", "<f8", ">f8"):
        a["numbers " + t] = np.array([-1.5, 0, 5.96e-8, np.inf, -np.inf, np.nan, np.finfo(t).max], dtype=t)
    a["scalar"] = np.float32(0.5)
    a["matrix"] = np.arange(6).reshape(2, 3)
    a["empty"] = h5py.Empty("f4")
    a["text"] = "Größe µg/l"
    a["texts"] = ["a", "", "a longer text " * 20]
    a["fixed"] = np.bytes_("fixed")
    a["fixed texts"] = np.array([b"one", b"three"], dtype="S7")
    low_attribute(d, "space padded", text_type(8, h5py.h5t.STR_SPACEPAD), np.array(b"ab      ", dtype="S8"))
    low_attribute(d, "zero terminated", text_type(8, h5py.h5t.STR_NULLTERM), np.array(b"abc", dtype="S8"))
    low_attribute(d, "utf-8", text_type(12, h5py.h5t.STR_NULLPAD, h5py.h5t.CSET_UTF8), np.array("Müggelsee".encode(), dtype="S12"))
    a["true"] = True
    a["enum"] = np.array([0, 2], dtype=h5py.enum_dtype({"a": 0, "b": 1, "c": 2}, basetype=">i2"))
    a["array"] = np.zeros(2, dtype=np.dtype(("<i4", (2, 2))))
    a["compound"] = np.zeros(2, dtype=[("a", "i4"), ("b", "f8", (2,)), ("c", "S3")])
    a["opaque"] = np.void(b"\x01\x02\x03")
    a["complex"] = np.complex64(1 + 2j)
    a["reference"] = d.ref
    a["references"] = np.array([f.ref, d.ref], dtype=h5py.ref_dtype)
    lists = np.empty(3, dtype=object)
    lists[:] = [reference_list(d), reference_list(f, d), reference_list()]
    a.create("lists of references", lists, dtype=h5py.vlen_dtype(h5py.ref_dtype))
    lists = np.empty(2, dtype=object)
    lists[:] = [np.arange(3, dtype="f4"), np.arange(2, dtype="f4")]
    a.create("lists of numbers", lists, dtype=h5py.vlen_dtype("f4"))
    a["region"] = d.regionref[0:1, 0:2]
    f["type"] = np.dtype(">i4")
    h5py.h5a.create(d.id, b"of a named type", f["type"].id, h5py.h5s.create(h5py.h5s.SCALAR)).write(np.array(7, ">i4"))


def many_attributes(f):
    """Attributes in the header and its continuations, or in fractal heaps, some as huge objects."""
    for n in (0, 5, 8, 9, 50, 400):
        d = f.create_dataset(f"with {n}", data=np.int8(1))
        for i in range(n):
            d.attrs[f"attribute {i * 7919 % 3000}"] = "x" * (i % 300) if i % 3 else np.arange(i % 20 + 1)
    f.attrs["large"] = np.arange(7000)
    f.attrs["larger"] = np.arange(8000, dtype="f8")


def huge_attributes(f):
    d = f.create_dataset("d", data=np.int8(1))
    for i, n in enumerate((3, 20000, 40000)):
        d.attrs[f"huge {i}"] = np.arange(n, dtype="f8")
    for i in range(12):
        d.attrs[f"small {i}"] = i


def dataset_kinds(f):
    for t in ("i1", "u1", "<i2", ">u2", "<i4", ">u4", "<i8", ">u8", "<f2", ">f4", "<f8"):
        f.create_dataset("type " + t, data=np.arange(6).reshape(2, 3).astype(t))
    f.create_dataset("scalar", data=np.float64(2.5))
    f.create_dataset("null", data=h5py.Empty("f4"))
    f.create_dataset("without elements", shape=(0, 5), maxshape=(None, 5), chunks=(10, 5), dtype="f4")
    f.create_dataset("never written", shape=(3, 4), dtype="f4", fillvalue=-9)
    f.create_dataset("never written chunks", shape=(30, 40), chunks=(7, 9), dtype="i2", fillvalue=-9)
    f.create_dataset("filled with NaN", shape=(4,), dtype="f8", fillvalue=np.nan)
    f.create_dataset("rank 5", data=np.arange(2 * 3 * 2 * 3 * 2).reshape(2, 3, 2, 3, 2), chunks=(1, 2, 2, 2, 1))
    f.create_dataset("unlimited", data=np.arange(20).reshape(4, 5), maxshape=(None, 10), chunks=(3, 3))
    f.create_dataset("text", data=np.array([b"one", b"two"]))
    f.create_dataset("texts", data=["one", "two"], dtype=h5py.string_dtype())
    f.create_dataset("compound", data=np.zeros(3, dtype=[("a", "i4"), ("b", "f8", (2,))]))
    f.create_dataset("enum", data=np.array([0, 1], dtype=h5py.enum_dtype({"a": 0, "b": 1}, basetype="i1")))
    f.create_dataset("external", shape=(3,), dtype="i4", external=[(os.path.join(out, "external.raw"), 0, 12)])
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(f.id, b"compact", h5py.h5t.IEEE_F32BE, h5py.h5s.create_simple((10,)), plist).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.arange(10, dtype="f4"))
    odd = h5py.h5t.NATIVE_INT16.copy()
    odd.set_precision(12)
    h5py.h5d.create(f.id, b"of 12 bits", odd, h5py.h5s.create_simple((3,)))
    f["named type"] = np.dtype("<f4")
    h5py.h5d.create(f.id, b"of a named type", f["named type"].id, h5py.h5s.create_simple((3,))).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.arange(3, dtype="f4"))
    if f.libver[1] != "v108" and f.libver[0] != "earliest":
        layout = h5py.VirtualLayout(shape=(3,), dtype="i4")
        layout[:] = h5py.VirtualSource(f.filename, "type <i4", shape=(2, 3))[0]
        f.create_virtual_dataset("virtual", layout)


def seed(f):
    """One of everything that a small file has room for."""
    d = f.create_dataset("group/chunks", data=np.arange(60, dtype="<f4").reshape(6, 10), chunks=(2, 4), compression="gzip", shuffle=True,
                         fletcher32=True, fillvalue=-1)
    for i in range(10):
        f[f"group/link {i}"] = d
        d.attrs[f"a{i}"] = i
    f["soft"] = h5py.SoftLink("/group/chunks")
    f.create_dataset("contiguous", data=np.arange(7, dtype=">i2"))
    one = f.create_dataset("one", shape=(300,), dtype="u1", maxshape=(None,), chunks=(1,))
    for i in (0, 3, 10, 50, 240, 270):
        one[i] = i
    if f.libver[0] not in ("earliest", "v108"):
        f.create_dataset("filtered", data=np.arange(40, dtype="u1").reshape(8, 5), maxshape=(None, 5), chunks=(3, 5), compression="gzip")
    f.create_dataset("two", data=np.arange(40, dtype="u1").reshape(8, 5), maxshape=(None, None), chunks=(3, 3), compression="gzip")
    a = f["contiguous"].attrs
    a["text"] = "variable length"
    a["fixed"] = np.bytes_("fixed")
    a["number"] = np.float32(0.5)
    a["references"] = np.array([f.ref, d.ref], dtype=h5py.ref_dtype)
    lists = np.empty(1, dtype=object)
    lists[0] = reference_list(d)
    a.create("list", lists, dtype=h5py.vlen_dtype(h5py.ref_dtype))
    a["compound"] = np.zeros(2, dtype=[("a", "i4"), ("b", "f8", (2,))])


def more_links(f):
    """Links in a B-tree and a heap with more than one block."""
    links(f)
    for i in range(60):
        f[f"group/link {i}"] = h5py.SoftLink("data")


def few_shared(f):
    """What h5repack shares."""
    for i in range(3):
        d = f.create_dataset(f"d{i}", data=np.arange(6).reshape(2, 3), chunks=(2, 2), fillvalue=-9)
        d.attrs["array"] = np.zeros(2, dtype=np.dtype(("<i4", (2, 2))))
        d.attrs["long name of an attribute"] = np.arange(5)



BUILDERS = [many_links, ordered_links, links, attribute_kinds, many_attributes, huge_attributes, dataset_kinds, seed]
paths = []
if "seeds" in sys.argv[2:]:
    for low in ("earliest", "v108", "latest"):
        paths.append(write("seed_" + low, seed, low))
    paths.append(write("seed_links", more_links, "latest"))
    unshared = write("unshared", few_shared, "latest")  # messages of 20 bytes and more are shared: such files are refused
    subprocess.run(["h5repack", "-s", "20", unshared, os.path.join(out, "seed_shared.h5")], check=True)
    os.remove(unshared)
else:
    for low in VERSIONS:
        for build in BUILDERS:
            if build is huge_attributes and low == "earliest":
                continue  # attributes of an old object have at most 64 KiB
            try:
                paths.append(write(f"{build.__name__}_{low}", build, low))
            except Exception as e:
                raise RuntimeError(f"{build.__name__} {low}") from e
    paths.append(write("long_names", long_names, "v108"))
    paths.append(write("userblock", attribute_kinds, "latest", userblock_size=1024))
    paths.append(write("userblock_earliest", seed, "earliest", userblock_size=512))


def describe(path):
    """What a file has."""
    with h5py.File(path, "r") as f:
        objects = []
        walk(f, f["/"], objects)
    return {"Name": os.path.basename(path), "Objects": objects}


if "seeds" not in sys.argv[2:]:
    with open(os.path.join(out, "manifest.json"), "w") as m:
        json.dump({"HDF5": h5py.version.hdf5_version, "Files": [describe(path) for path in paths]}, m)
