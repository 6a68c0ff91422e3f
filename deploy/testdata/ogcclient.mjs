// What @camptocamp/ogc-client finds, given the addresses of the landing page and of the WMTS, as JSON.
import { readFileSync } from "node:fs";
import { OgcApiEndpoint, WmtsEndpoint } from "@camptocamp/ogc-client";

const [base, matrix, column, row] = process.argv.slice(2);
globalThis.location = new URL(base); // what it resolves addresses against

const api = new OgcApiEndpoint(`${base}/ogc`);
const collection = await api.getCollectionInfo("chlorophyll");
const vectorSet = await api.getVectorTilesetUrl("chlorophyll");
const tileset = await (await fetch(vectorSet)).json();

const wmts = await new WmtsEndpoint(`${base}/wmts`).isReady();
const layer = wmts.getLayerByName(wmts.getSingleLayerName());
const set = wmts.getMatrixSetByIdentifier(layer.matrixSets[0].identifier);
const tile = wmts.getTileUrl(layer.name, layer.defaultStyle, set.identifier, matrix, Number(row), Number(column));
// It leaves the variable of a dimension to its users.
const dimensions = wmts.getDefaultDimensions(layer.name);
const filled = Object.entries(dimensions).reduce((url, [name, value]) => url.replace(`{${name}}`, value), tile);
const kvp = new URL(layer.resourceLinks.find((link) => link.encoding === "KVP").url);
for (const [name, value] of Object.entries({
  SERVICE: "WMTS", REQUEST: "GetTile", VERSION: "1.0.0", LAYER: layer.name, STYLE: layer.defaultStyle, FORMAT: "image/png",
  TILEMATRIXSET: set.identifier, TILEMATRIX: matrix, TILEROW: row, TILECOL: column, ...dimensions,
})) {
  kvp.searchParams.set(name, value);
}

console.log(JSON.stringify({
  version: JSON.parse(readFileSync("node_modules/@camptocamp/ogc-client/package.json")).version,
  hasTiles: await api.hasTiles,
  mapTiles: await api.mapTileCollections,
  vectorTiles: await api.vectorTileCollections,
  matrixSets: await api.tileMatrixSets,
  mapSet: await api.getMapTilesetUrl("chlorophyll"),
  vectorSet,
  mapFormats: collection.mapTileFormats,
  template: tileset.links.find((link) => link.rel === "item").href,
  wmts: {
    layer: layer.name, title: layer.title, tile: filled, kvpTile: kvp.href, crs: set.crs,
    styles: layer.styles.map((style) => style.name),
    dimensions,
    bbox: layer.latLonBoundingBox,
    matrices: set.tileMatrices.length,
  },
}));
