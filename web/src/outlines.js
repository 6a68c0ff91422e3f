// The outlines that orient a reader where there is no basemap.
import * as L from 'leaflet'
import { load } from './load.js'

/** Draws land, borders and Germany from the file that build.mjs makes, below everything else. */
export async function addOutlines({ map, say }, url) {
  const outlines = await load(url, say)
  const pane = 'outlines'
  map.createPane(pane).style.zIndex = 100 // below the tiles
  const options = { pane, renderer: L.svg({ pane, padding: 0.5 }), interactive: false }
  for (const [className, lines] of Object.entries(outlines)) {
    const shape = className === 'borders' ? L.polyline : L.polygon
    // The style sheet has their colours: they follow day, night and paper by themselves.
    shape(decoded(lines), { ...options, className }).addTo(map)
  }
}

// decoded turns lines of whole numbers, each point the step from the one before, back into degrees.
function decoded({ scale, lines }) {
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
