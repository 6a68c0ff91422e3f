// Points that people type as decimal degrees.
const pattern = /^\s*(-?\d{1,2}[.,]\d+)\s*°?\s*n?[\s,;]+(-?\d{1,3}[.,]\d+)\s*°?\s*[eo]?\s*$/i

/** Returns the place that a text gives as latitude and longitude, such as 52.42, 13.18; an empty list for other texts.
 * @param {string} text */
export function placeAt(text) {
  const [, lat, lon] = pattern.exec(text)?.map((part) => Number(part.replace(',', '.'))) ?? []
  const name = text.trim()
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? [{ name, short: name, lat, lon }] : []
}
