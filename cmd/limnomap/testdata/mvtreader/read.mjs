// Reads vector tiles with the packages @mapbox/vector-tile and pbf: node read.mjs, with one "z/x/y FILE" in each line of its
// input, the file not compressed. Answers with one JSON document: for each tile its layers by name, each with what a map
// library sees of it and its features, in units of the tile and as GeoJSON.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";

const tiles = {};
for await (const line of createInterface({ input: process.stdin })) {
  const [address, path] = line.split(" ");
  const [z, x, y] = address.split("/").map(Number);
  const layers = {};
  for (const [name, layer] of Object.entries(new VectorTile(new PbfReader(await readFile(path))).layers)) {
    const features = [];
    for (let i = 0; i < layer.length; i++) {
      const feature = layer.feature(i);
      const [[point], ...more] = feature.loadGeometry();
      if (more.length > 0) throw new Error(`${address}: feature ${i} is more than a point`);
      features.push({ x: point.x, y: point.y, numbered: feature.id !== undefined, geojson: feature.toGeoJSON(x, y, z) });
    }
    layers[name] = { version: layer.version, extent: layer.extent, features };
  }
  tiles[address] = layers;
}
process.stdout.write(JSON.stringify(tiles));
