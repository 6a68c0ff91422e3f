"""Prints what OWSLib finds, given the address of the server and a place with a lake, as JSON."""
import json
import sys

from owslib.ogcapi.features import Features
from owslib.wms import WebMapService
from owslib.wmts import WebMapTileService

base, west, south, east, north = sys.argv[1], *map(float, sys.argv[2:6])
features = Features(f"{base}/ogc")
found = {
    "collections": features.feature_collections(),
    "lakes": features.collection_items("lakes", limit=10000)["numberReturned"],
    "high": features.collection_items("lakes", limit=10000, filter="chl > 50")["numberReturned"],
    "queryables": sorted(features.collection_queryables("lakes")["properties"])[:2],
    "wms": {},
}
for version, system in (("1.1.1", "EPSG:4326"), ("1.3.0", "EPSG:4326"), ("1.3.0", "CRS:84")):
    wms = WebMapService(f"{base}/wms", version=version)
    size = {"layers": ["chlorophyll"], "srs": system, "bbox": (west, south, east, north), "size": (101, 101), "format": "image/png"}
    picture = wms.getmap(**size, transparent=True).read()
    info = wms.getfeatureinfo(**size, query_layers=["chlorophyll"], info_format="application/json", xy=(50, 50)).read()
    found["wms"][f"{version} {system}"] = [picture.hex(), [f["properties"]["id"] for f in json.loads(info)["features"]]]
wmts = WebMapTileService(f"{base}/wmts")
layer = wmts.contents["chlorophyll"]
tile = wmts.gettile(layer="chlorophyll", tilematrixset="GoogleMapsCompatible", tilematrix=sys.argv[6], row=int(sys.argv[8]), column=int(sys.argv[7]), format="image/png", style="heat")
found["styles"], found["tile"], found["infoformats"], found["operations"] = list(layer.styles), tile.read().hex(), layer.infoformats, [o.name for o in wmts.operations]
print(json.dumps(found))
