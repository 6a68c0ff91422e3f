"""Prints what QGIS finds, given the address of the server, a place in EPSG:3857 and a file for a picture, as JSON."""
import json
import os
import sys

os.environ["QT_QPA_PLATFORM"] = "offscreen"
from qgis.core import QgsApplication, QgsFeatureRequest, QgsMapRendererSequentialJob, QgsMapSettings, QgsPointXY, QgsRaster, QgsRasterLayer, QgsRectangle, QgsVectorLayer
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor

base, x, y, side, file = sys.argv[1], *map(float, sys.argv[2:5]), sys.argv[5]
application = QgsApplication([], False)
application.initQgis()
lakes = QgsVectorLayer(f"url='{base}/ogc' typename='lakes' pageSize='100'", "Lakes", "OAPIF")
found = {"valid": lakes.isValid(), "lakes": len(list(lakes.getFeatures())), "high": len(list(lakes.getFeatures(QgsFeatureRequest().setFilterExpression('"chl" > 50'))))}
for name, source in {
    "wms": f"url={base}/wms&layers=chlorophyll&styles=&format=image/png&crs=EPSG:3857",
    "wmts": f"url={base}/wmts/1.0.0/WMTSCapabilities.xml&layers=chlorophyll&styles=heat&format=image/png&crs=EPSG:3857&tileMatrixSet=GoogleMapsCompatible&tileDimensions=Time%3Dcurrent",
}.items():
    layer = QgsRasterLayer(source, name, "wms")
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setBackgroundColor(QColor(0, 0, 0, 0))
    settings.setDestinationCrs(layer.crs())
    extent = QgsRectangle(x - side / 2, y - side / 2, x + side / 2, y + side / 2)
    settings.setExtent(extent)
    settings.setOutputSize(QSize(256, 256))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    job.renderedImage().save(f"{file}-{name}.png")
    info = layer.dataProvider().identify(QgsPointXY(x, y), QgsRaster.IdentifyFormatText, extent, 256, 256)
    found[name] = {"valid": layer.isValid(), "info": [str(text) for text in info.results().values()]}
print(json.dumps(found), flush=True)
os._exit(0)  # the order in which Python and Qt delete layers and threads at the end may crash
