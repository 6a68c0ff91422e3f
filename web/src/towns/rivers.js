// More rivers around Germany, for the zooms at which the large ones of the outlines would lie beside their beds.
import { files } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { L } from '../leaflet.js'
import { decode } from '../outlines.js'

const minZoom = 8
const pane = 'outlines'

/** Shows the rivers while the map is near enough and its centre is among them; otherwise the large ones of the outlines. @param {Page} page */
export function addRivers({ map }) {
  let rivers // not requested yet; null while they load
  const update = () => {
    if (map.getZoom() >= minZoom && rivers === undefined) load()
    const near = Boolean(rivers) && map.getZoom() >= minZoom && rivers.getBounds().contains(map.getCenter())
    map.getContainer().classList.toggle('near-rivers', near)
    if (near) rivers.addTo(map)
    else rivers?.remove()
  }
  const load = () => {
    rivers = null
    fetchJSON(files.nearRivers).then((lines) => {
      rivers = L.polyline(/** @type {any} */ (decode(lines)), { pane, renderer: L.svg({ pane, padding: 0.5 }), interactive: false, className: 'rivers near' })
      update()
    }, () => { rivers = undefined }) // the next movement tries again
  }
  map.on('moveend', update)
  update()
}
