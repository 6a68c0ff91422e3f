// Places: distances between them, and those that are typed as numbers.
import { number } from './words.js'

const radians = Math.PI / 180
const earthRadius = 6371.0088 // km, the mean radius that the server reckons with too

/** The distance between two places in km. */
export function distance(a, b) {
  const across = Math.sin((b.lat - a.lat) * radians / 2) ** 2
  const along = Math.sin((b.lon - a.lon) * radians / 2) ** 2
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(across + Math.cos(a.lat * radians) * Math.cos(b.lat * radians) * along)))
}

/** A distance in words. */
export const km = (d) => `${number(d < 10 ? Math.round(d * 10) / 10 : Math.round(d))} km`

/** Reports whether a place is within the map's bounds, which go on beyond the antimeridian. */
export function within(bounds, { lat, lon }) {
  const [west, east] = [bounds.getWest(), bounds.getEast()]
  return lat >= bounds.getSouth() && lat <= bounds.getNorth() && ((lon - west) % 360 + 360) % 360 <= east - west
}

// Two numbers with decimal points, or with decimal commas and more than a comma between them; behind each may stand the
// side of the globe.
const forms = [['[.]', '[,;\\s]\\s*'], [',', '(?:;\\s*|,?\\s+)']].map(([mark, between]) => {
  const angle = `([+-]?\\d{1,3}(?:${mark}\\d+)?)\\s*°?\\s*`
  return new RegExp(`^${angle}([NS]?)${between}${angle}([EOW]?)$`, 'i')
})

/** The place that is typed as latitude and longitude: 52.4, 13.6 or 52,4 13,6 or 52.4° N 13.6° E. Null if it is none. */
export function typedPlace(text) {
  const [, lat, south, lon, west] = forms.map((form) => form.exec(text.trim())).find(Boolean) ?? []
  if (!lat) return null
  const degrees = (s, back) => Number(s.replace(',', '.')) * (back ? -1 : 1)
  const place = { lat: degrees(lat, /s/i.test(south)), lon: degrees(lon, /w/i.test(west)) }
  return Math.abs(place.lat) <= 90 && Math.abs(place.lon) <= 180 ? place : null
}
