// What libraries find of features and series, given the address of the server, as JSON.
import { createRequire } from "node:module";
import { OgcApiEndpoint } from "@camptocamp/ogc-client";

const require = createRequire(`${process.cwd()}/`);
const { FeatureService } = require("@ogcapi-js/features");
const { read } = require("covjson-reader");
const base = process.argv[2];
globalThis.location = new URL(base); // what ogc-client resolves addresses against

const api = new OgcApiEndpoint(`${base}/ogc`);
const ogcClient = {
  collections: (await api.featureCollections),
  lakes: (await api.getCollectionItems("lakes", 10000)).length,
};

const service = new FeatureService({ baseUrl: `${base}/ogc` });
const ogcapiJS = {
  collections: (await service.getCollections()).collections.map((collection) => collection.id),
  lakes: (await service.getFeatures("lakes", { limit: 10000 })).features.length,
};

const coverages = await (await fetch(`${base}/ogc/collections/observations/cube?bbox=13,52,14,53&datetime=2026-06-01/..&parameter-name=chl`)).json();
const collection = await read(coverages);
let values = 0;
let sum = 0;
for (const coverage of collection.coverages) {
  const domain = await coverage.loadDomain();
  const range = await coverage.loadRange("chl");
  for (let t = 0; t < domain.axes.get("t").values.length; t++) {
    values++;
    sum += range.get({ t }) ?? 0;
  }
}
const series = {
  type: collection.type, coverages: collection.coverages.length, values, sum,
  unit: collection.coverages[0].parameters.get("chl").unit.symbol.value ?? collection.coverages[0].parameters.get("chl").unit.symbol,
};
console.log(JSON.stringify({ ogcClient, ogcapiJS, series }));
