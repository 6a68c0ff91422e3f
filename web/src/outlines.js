// The outlines of land, borders, Germany and large rivers, for maps without a basemap, and what a near map has.
import { L } from './leaflet.js'
import { fetchJSON } from './fetchjson.js'
import { lazyScript } from './lazyscript.js'

const minTownZoom = 6

/** Draws the outlines below everything else. build.mjs makes the file. @param {Page} page @param {string} url */
export async function addOutlines({ map }, url) {
  const outlines = await fetchJSON(url)
  const pane = 'outlines'
  map.createPane(pane).style.zIndex = '100' // below the tiles
  const options = { pane, renderer: L.svg({ pane, padding: 0.5 }), interactive: false }
  for (const [className, lines] of Object.entries(outlines)) {
    const shape = /** @type {any} */ (className === 'borders' || className === 'rivers' ? L.polyline : L.polygon)
    // Their colours are in the style sheet, so that they follow the colour scheme and print.
    shape(decode(lines), { ...options, className }).addTo(map)
  }
}

/** Adds what a near map has: the names of towns, more rivers and the sizes of lakes. @param {Page} page */
export function addNames(page) {
  const load = lazyScript('towns')
  const add = () => page.map.getZoom() < minTownZoom || load().then(({ addNear }) => addNear(page)).catch(() => {}) // the map works without them
  page.map.on('zoomend', add)
  add()
}

/** Turns lines of whole numbers, each point the step from the one before, into degrees. @param {{scale: number, lines: number[][]}} lines */
export function decode({ scale, lines }) {
  return lines.map((line) => {
    let [x, y] = [0, 0]
    const points = []
    for (let i = 0; i < line.length; i += 2) {
      x += line[i]
      y += line[i + 1]
      points.push([y / scale, x / scale])
    }
    return points
  })
}
