#!/usr/bin/python3
"""Writes HDF5 files with h5py, and what h5py reads back.

make_chunks.py OUT seeds writes small files for the tests with damaged files. make_chunks.py OUT makes, for each version of the file format, a file of datasets in every layout and with every index of chunks, a
file of the values of all datasets, as float64 one after another, and manifest.json, which lists the datasets in that order.
"""
import itertools
import json
import os
import sys

import h5py
import numpy as np

out = sys.argv[1]
rng = np.random.default_rng(11)
manifest = {"h5py": h5py.version.version, "hdf5": h5py.version.hdf5_version, "files": []}

known = {}  # values of datasets with so many chunks that h5py would take more than a GB to read them


def noise(shape, dtype="f4"):
    """Values of which most are equal, as those of a map of lakes."""
    a = rng.random(shape) * 100
    a[rng.random(shape) < 0.7] = 5
    return a.astype(dtype)


def layouts(f, every):
    a = noise((120, 130))
    chunks = {
        "fixed": dict(chunks=(3, 4)),  # more chunks than a page of a fixed array has
        "few": dict(chunks=(50, 60)),
        "single": dict(chunks=(120, 130)),
        "one": dict(chunks=(3, 4), maxshape=(None, 130)),
        "last": dict(chunks=(10, 7), maxshape=(120, None)),
        "two": dict(chunks=(3, 4), maxshape=(None, None)),
        "larger": dict(chunks=(20, 30), maxshape=(400, 500)),
        "beyond": dict(chunks=(200, 200), maxshape=(200, 200)),
        "contiguous": {},
    }
    filters = {
        "none": {},
        "gzip": dict(compression="gzip", compression_opts=1),
        "shuffle_gzip": dict(compression="gzip", shuffle=True),
        "checksum": dict(compression="gzip", shuffle=True, fletcher32=True),
        "lzf": dict(compression="lzf", shuffle=True),
        "only_checksum": dict(fletcher32=True),
        "only_shuffle": dict(shuffle=True),
    }
    for (name, k), (filtered, z) in itertools.product(chunks.items(), filters.items()):
        if z and "chunks" not in k or not every and filtered not in ("none", "shuffle_gzip"):
            continue
        f.create_dataset(f"{name}_{filtered}", data=a, **k, **z)
    # Rows of a shape that grew and shrank.
    d = f.create_dataset("grown", data=a, chunks=(20, 30), maxshape=(None, None), compression="gzip", fillvalue=-3)
    d.resize((190, 100))
    d.resize((140, 200))


def dimensions(f):
    for shape, chunk in [((1000,), (7,)), ((1, 60, 70), (1, 16, 16)), ((3, 40, 50), (2, 16, 50)), ((5, 6, 7, 8), (2, 4, 3, 5)), ((20, 30, 1), (6, 7, 1))]:
        for unlimited in range(-1, len(shape)):
            maxshape = tuple(None if k == unlimited else n for k, n in enumerate(shape))
            name = f"d{len(shape)}_{shape[0]}_{unlimited}"
            f.create_dataset(name, data=noise(shape), chunks=chunk, maxshape=maxshape, compression="gzip", shuffle=True)
            f.create_dataset(name + "_none", data=noise(shape), chunks=chunk, maxshape=maxshape)
        f.create_dataset(f"d{len(shape)}_{shape[0]}_contiguous", data=noise(shape))
    f.create_dataset("scalar", data=np.float64(42.5))
    f.create_dataset("empty", shape=(0, 10), maxshape=(None, 10), dtype="f4", chunks=(5, 5))


def types(f):
    for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"):
        for order in "<>":
            a = noise((40, 50), "f8") - (50 if t[0] != "u" else 0)
            if t[0] == "f":
                a[3, 5], a[3, 6], a[3, 7], a[3, 8] = np.nan, np.inf, -np.inf, 3e-7
            a = a.astype(order + t)
            name = t + ("le" if order == "<" else "be")
            f.create_dataset(name, data=a)
            f.create_dataset(name + "_chunks", data=a, chunks=(16, 16), compression="gzip")
            f.create_dataset(name + "_shuffle", data=a, chunks=(16, 16), compression="gzip", shuffle=True)
    f.create_dataset("enum", data=np.arange(3).repeat(5).astype("i2"), dtype=h5py.enum_dtype({"a": 0, "b": 1, "c": 2}, "i2"))
    f.create_dataset("bool", data=rng.random(50) < 0.5)


def missing(f, far):
    """Datasets of which only some chunks are written, with and without a fill value."""
    for fill in (None, -9.0):
        for name, maxshape in {"fixed": (300, 200), "one": (None, 200), "last": (300, None), "two": (None, None)}.items():
            for z in (None, "gzip"):
                d = f.create_dataset(f"{name}_{z}_{fill}", shape=(300, 200), chunks=(5, 5), maxshape=maxshape, dtype="f4", fillvalue=fill, compression=z)
                d[17:23, 44:61] = noise((6, 17))
                d[299, 199] = 1
        f.create_dataset(f"nothing_{fill}", shape=(30, 20), chunks=(5, 5), dtype="i2", fillvalue=None if fill is None else -9)
        f.create_dataset(f"contiguous_{fill}", shape=(30, 20), dtype="f4", fillvalue=fill)
    if not far:
        return
    # Far elements of an extensible array lie in pages of data blocks of super blocks.
    for z in (None, "gzip"):
        for name, maxshape in {"far": (None,), "far_fixed": None}.items():
            d = f.create_dataset(f"{name}_{z}", shape=(400000,), chunks=(1,), maxshape=maxshape, dtype="u1", compression=z)
            known[d.name] = np.zeros(d.shape)
            for at in (0, 3, 4, 5, 19, 20, 100, 1000, 1023, 1024, 5000, 20000, 130000, 131100, 140000, 262000, 270000, 399999):
                d[at] = known[d.name][at] = at % 250 + 1


def lowlevel(f):
    """What h5py's functions for datasets do not set."""
    space = h5py.h5s.create_simple((60, 70))
    a = noise((60, 70))

    def create(name, setup, write=True):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        setup(plist)
        d = h5py.h5d.create(f.id, name.encode(), h5py.h5t.IEEE_F32LE, space, plist)
        if write:
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, a)
        return d

    def early(plist):
        plist.set_chunk((16, 16))
        plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)

    create("implicit", early)  # the index of that name in files of a late version
    small = h5py.h5s.create_simple((30, 40))
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    d = h5py.h5d.create(f.id, b"compact", h5py.h5t.IEEE_F32BE, small, plist)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, noise((30, 40)))

    def checksum_first(plist):
        plist.set_chunk((16, 16))
        plist.set_fletcher32()
        plist.set_shuffle()
        plist.set_deflate(4)

    create("checksum_first", checksum_first)

    def checksum_between(plist):
        plist.set_chunk((16, 16))
        plist.set_shuffle()
        plist.set_fletcher32()
        plist.set_deflate(4)

    create("checksum_between", checksum_between)

    def usual(plist):
        plist.set_chunk((16, 16))
        plist.set_shuffle()
        plist.set_deflate(4)

    d = create("masked", usual)
    d.write_direct_chunk((16, 32), noise((16, 16)).tobytes(), 3)  # neither filter was applied


def values(d):
    a = known[d.name] if d.name in known else d[...]
    return np.asarray(a).astype("<f8").ravel()


def seeds():
    with h5py.File(f"{out}/seed_pages.h5", "w", libver="latest") as f:
        d = f.create_dataset("pages", shape=(1100,), chunks=(1,), dtype="u1")
        d[1030] = 7  # in the second page of a fixed array
        f.create_dataset("checksum", data=np.arange(50, dtype="u2"), chunks=(20,), shuffle=True, compression="gzip", fletcher32=True)
    with h5py.File(f"{out}/seed_tree.h5", "w", libver="latest") as f:
        d = f.create_dataset("tree", shape=(100, 100), chunks=(10, 10), maxshape=(None, None), dtype="u1")
        d[:] = 3  # more chunks than a leaf of a B-tree has room for
        f.create_dataset("lzf", data=np.arange(50, dtype="f8"), chunks=(20,), shuffle=True, compression="lzf")
        f.create_dataset("single", data=np.arange(50, dtype="i4"), chunks=(50,), compression="gzip")
    with h5py.File(f"{out}/seed_super.h5", "w", libver="latest") as f:
        d = f.create_dataset("super", shape=(140000,), chunks=(1,), maxshape=(None,), dtype="u1")
        d[400], d[139999] = 1, 2  # in data blocks of super blocks, the second one with pages


if len(sys.argv) > 2:
    seeds()
    sys.exit()

for version in ("earliest", "v108", "v110", "latest"):
    libver = ("earliest", "latest") if version == "earliest" else (version, version)
    name = f"{out}/{version}"
    with h5py.File(name + ".h5", "w", libver=libver) as f:
        layouts(f.create_group("layouts"), version in ("earliest", "latest"))
        dimensions(f.create_group("dimensions"))
        types(f.create_group("types"))
        missing(f.create_group("missing"), version == "latest")
        lowlevel(f.create_group("lowlevel"))
    datasets = []
    with h5py.File(name + ".h5", "r") as f, open(name + ".f64", "wb") as o:

        def visit(path, d):
            if isinstance(d, h5py.Dataset):
                values(d).tofile(o)
                datasets.append({"path": path, "shape": list(d.shape), "chunk": list(d.chunks or [])})

        f.visititems(visit)
    manifest["files"].append({"name": version, "size": os.path.getsize(name + ".h5"), "datasets": datasets})

with h5py.File(f"{out}/refused.h5", "w", libver="latest") as f:
    f.create_dataset("scaleoffset", data=noise((40, 50)), chunks=(20, 20), scaleoffset=2)
    f.create_dataset("compound", data=np.zeros(5, dtype=[("a", "f4"), ("b", "i2")]))
    f.create_dataset("text", data=np.array([b"a", b"bc"]))
    if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        f.create_dataset("szip", data=noise((40, 50)), chunks=(20, 20), compression="szip")
    layout = h5py.VirtualLayout(shape=(40, 50), dtype="f4")
    layout[:] = h5py.VirtualSource("latest.h5", "layouts/few_none", shape=(120, 130))[:40, :50]
    f.create_virtual_dataset("virtual", layout)
    manifest["refused"] = list(f)

with open(f"{out}/manifest.json", "w") as f:
    json.dump(manifest, f)
