// The lakes nearest to a point.
import { classifyLakes } from '../classify.js'
import { L } from '../leaflet.js'
import { fitVisible } from '../mapposition.js'
import { showToast } from '../message.js'
import { round } from '../view.js'
import { fill, number } from '../words.js'
import { findWords } from './words.js'

const shown = 5 // lakes that the map shows around a point
const far = 50 // km from which on the page says how far the nearest lake is
const everywhere = 20_000 // km
const maxZoom = 12

/** Returns the lakes nearest to a point, with their distances in km. The server is asked only if not all lakes are loaded, and only for a point
 * rounded to about a kilometre. @param {Page} page @param {{lat: number, lon: number}} at */
async function nearestLakes({ map, store, legend }, at) {
  const { lakes, complete, date } = store.get()
  const query = new URLSearchParams(/** @type {any} */ ({ lat: round(at.lat, 2), lon: round(at.lon, 2), radius_km: everywhere, limit: shown, ...(date && { date }) }))
  const candidates = complete ? lakes : classifyLakes(await loadNear(query), legend, date)
  return candidates.map((lake) => ({ lake, distance: map.distance(/** @type {any} */ (at), /** @type {any} */ (lake)) / 1000 }))
    .sort((a, b) => a.distance - b.distance).slice(0, shown)
}

// loadNear does not use fetchJSON, which would take the answer for one with the lakes of the map.
async function loadNear(query) {
  const answer = await fetch(`api/v1/bathing-lakes/near?${query}`)
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`)
  return (await answer.json()).lakes
}

/**
 * Shows a point with the lakes nearest to it, and says how far the nearest one is if it is far. After a message the map is at the point: it stays
 * there if it shows a lake in its middle, which nothing covers. All positions are rounded, so that the address does not tell where the point is.
 * @param {Page} page @param {{lat: number, lon: number}} at @param {string} [message]
 */
export async function showNearest(page, at, message = '') {
  const { map } = page
  const nearest = await nearestLakes(page, at)
  if (nearest.length === 0) return
  if (!message || !map.getBounds().pad(-0.2).contains(/** @type {any} */ (nearest[0].lake))) {
    const points = [at, ...nearest.map(({ lake }) => lake)].map(({ lat, lon }) => L.latLng(round(lat, 2), round(at.lon + (lon - at.lon + 540) % 360 - 180, 2)))
    fitVisible(map, L.latLngBounds(points), { maxZoom }, 40)
  }
  const [{ distance }] = nearest
  if (distance > far) showToast(`${message} ${fill(findWords.nearest, { n: number(Math.round(distance)) })}`.trim())
}
