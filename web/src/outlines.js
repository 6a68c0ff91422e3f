// The outlines that orient a reader where there is no basemap.
import * as L from 'leaflet'

/** Draws land, borders and Germany from the file that build.mjs makes, below everything else. */
export async function addOutlines(map, url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  const { land, borders, germany } = await answer.json()
  map.createPane('outlines').style.zIndex = 100 // below the tiles
  const options = { pane: 'outlines', renderer: L.svg({ pane: 'outlines', padding: 0.5 }), interactive: false }
  // The style sheet has their colours: they follow day, night and paper by themselves.
  L.polygon(decoded(land), { ...options, className: 'land' }).addTo(map)
  L.polyline(decoded(borders), { ...options, className: 'borders' }).addTo(map)
  L.polygon(decoded(germany), { ...options, className: 'germany' }).addTo(map)
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
