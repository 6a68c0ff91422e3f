// The outlines that orient a reader where there is no basemap.
import * as L from 'leaflet'

/** Draws land, borders and Germany from the file that build.mjs makes, below everything else. */
export async function addOutlines(map, url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  const { land, borders, germany } = await answer.json()
  map.createPane('outlines').style.zIndex = 100 // below the tiles
  const options = { pane: 'outlines', renderer: L.canvas({ pane: 'outlines', padding: 0.5 }), interactive: false }
  const shapes = [
    L.polygon(decoded(land), options),
    L.polyline(decoded(borders), { ...options, weight: 0.8 }),
    L.polygon(decoded(germany), { ...options, weight: 1.4 }),
  ]
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  const paint = () => shapes.forEach((shape, i) => shape.setStyle(styles(dark.matches)[i]))
  paint()
  dark.addEventListener('change', paint)
  shapes.forEach((shape) => shape.addTo(map))
}

// The same neutral tones by day and night: nothing here may pass for a colour of the legend or for its grey.
function styles(dark) {
  const line = dark ? '#5d6973' : '#aaa69b'
  return [
    { stroke: false, fill: true, fillColor: dark ? '#262d33' : '#f4f2ed', fillOpacity: 1 },
    { color: line },
    { color: line, fill: true, fillColor: dark ? '#303940' : '#ffffff', fillOpacity: 1 },
  ]
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
