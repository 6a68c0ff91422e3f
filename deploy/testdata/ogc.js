// Draws one tile's part of the map by each of OGC's services, and says how it differs from the XYZ tile.
const query = new URLSearchParams(location.search);
const server = query.get("server");
const [z, x, y] = ["z", "x", "y"].map((name) => Number(query.get(name)));
const grid = ol.tilegrid.createXYZ();
const extent = grid.getTileCoordExtent([z, x, y]);
const projection = ol.proj.get("EPSG:3857");

// map shows the layer in a square that is the tile, and resolves when it is drawn.
async function map(layer) {
  const target = document.body.appendChild(document.createElement("div"));
  target.className = "map";
  const drawn = new ol.Map({
    target, layers: [layer], controls: [], pixelRatio: 1,
    view: new ol.View({ center: ol.extent.getCenter(extent), resolution: grid.getResolution(z), constrainResolution: false }),
  });
  await new Promise((resolve) => drawn.once("rendercomplete", resolve));
  return target.querySelector("canvas").getContext("2d").getImageData(0, 0, 256, 256).data;
}

// xyz returns the pixels of the tile at its XYZ address, through a canvas too.
async function xyz(parameters) {
  const image = new Image();
  image.crossOrigin = "anonymous";
  image.src = `${server}/api/v1/tiles/${z}/${x}/${y}.png?${parameters}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return context.getImageData(0, 0, 256, 256).data;
}

async function compare(source, parameters) {
  const drawn = await map(new ol.layer.Tile({ source }));
  const wanted = await xyz(parameters);
  let shown = 0, different = 0;
  for (let i = 0; i < drawn.length; i += 4) {
    shown += drawn[i + 3] > 0;
    different += [0, 1, 2, 3].some((c) => Math.abs(drawn[i + c] - wanted[i + c]) > 2);
  }
  return { shown, different, address: source.getTileUrlFunction()([z, x, y], 1, projection) };
}

const ready = (source) => new Promise((resolve, reject) => {
  const look = () => source.getState() === "ready" ? resolve(source) : source.getState() === "error" && reject(source.getState());
  source.on("change", look);
  look();
});

async function run() {
  const text = await (await fetch(`${server}/wmts`)).text();
  const capabilities = new ol.format.WMTSCapabilities().read(text);
  const wmts = (config) => new ol.source.WMTS({
    ...ol.source.WMTS.optionsFromCapabilities(capabilities, { layer: "chlorophyll", crossOrigin: "anonymous", ...config }), transition: 0,
  });
  const week = capabilities.Contents.Layer[0].Dimension[0].Value.at(-20);
  const old = wmts({ style: capabilities.Contents.Layer[0].Style[1].Title });
  old.updateDimensions({ Time: week });
  const ways = {
    "WMTS, RESTful": await compare(wmts({}), ""),
    "WMTS, KVP": await compare(wmts({ requestEncoding: "KVP" }), ""),
    "WMTS, dots of an old week": await compare(old, `style=dots&date=${week}`),
    "OGC API": await compare(await ready(new ol.source.OGCMapTile({
      url: `${server}/ogc/map/tiles/WebMercatorQuad`, crossOrigin: "anonymous", transition: 0,
    })), ""),
  };
  const vector = new ol.layer.VectorTile({ source: await ready(new ol.source.OGCVectorTile({
    url: `${server}/ogc/tiles/WebMercatorQuad`, format: new ol.format.MVT(),
  })) });
  await map(vector);
  const lakes = vector.getFeaturesInExtent(extent).map((feature) => feature.get("id"));
  return { ways, lakes, version: ol.util?.VERSION ?? "", agent: navigator.userAgent };
}

run().then((result) => { window.result = { fault: "", ...result }; }, (fault) => { window.result = { fault: String(fault?.stack ?? fault) }; });
