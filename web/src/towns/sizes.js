// The areas of the largest lakes on a near map, of which the names are drawn first.
const minZoom = 9
const most = 200 // lakes

/** Adds page.areas, in km² by the id of a lake, and draws the names again. Without an answer they are drawn by risk. @param {Page} page */
export function addSizes(page) {
  const { map } = page
  let known // the part of the map whose lakes are known, or requested
  const load = async () => {
    if (map.getZoom() < minZoom || known?.contains(map.getBounds())) return
    known = map.getBounds().pad(0.5)
    const box = [known.getWest(), known.getSouth(), known.getEast(), known.getNorth()].map((v) => v.toFixed(1))
    try {
      const answer = await fetch(`ogc/collections/lakes/items?bbox=${box}&limit=${most}&sortby=-area_km2&properties=area_km2&skipGeometry=true`)
      const { features } = await answer.json()
      const areas = features.filter(({ properties: { area_km2: area } }) => area).map(({ id, properties }) => [id, properties.area_km2])
      if (!areas[0]) return
      page.areas = new Map(areas)
      page.redrawMarks()
    } catch {
      known = null // the next movement tries again
    }
  }
  map.on('moveend', load)
  load()
}
