"""Prints the tile that MapProxy makes of the WMS, in hexadecimal, given the address of the server and the tile's zoom, column and row."""
import sys
import tempfile
import wsgiref.util

from mapproxy.wsgiapp import make_wsgi_app

base, zoom, column, row = sys.argv[1:]
with tempfile.NamedTemporaryFile("w", suffix=".yaml") as configuration:
    configuration.write(f"""
services: {{tms: {{use_grid_names: true, origin: nw}}}}
layers: [{{name: lakes, title: Lakes, sources: [cache]}}]
caches: {{cache: {{grids: [mercator], sources: [limnomap], meta_size: [1, 1], meta_buffer: 0, disable_storage: true, format: image/png}}}}
sources:
  limnomap: {{type: wms, supported_srs: ['EPSG:3857'], wms_opts: {{version: 1.3.0}}, req: {{url: "{base}/wms", layers: chlorophyll, transparent: true}}}}
grids: {{mercator: {{base: GLOBAL_WEBMERCATOR}}}}
globals: {{image: {{paletted: false}}}}
""")
    configuration.flush()
    application = make_wsgi_app(configuration.name)
environ = {"PATH_INFO": f"/tiles/lakes/mercator/{zoom}/{column}/{row}.png"}
wsgiref.util.setup_testing_defaults(environ)
print(b"".join(application(environ, lambda *_: None)).hex())
