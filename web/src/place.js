// Places: whether the map shows them, and those that are typed as numbers.

/** Reports whether a place is within the map's bounds, which go on beyond the antimeridian. */
export function within(bounds, { lat, lon }) {
  const west = bounds.getWest()
  const east = ((lon - west) % 360 + 360) % 360 + west // as far east of the map's edge as it is
  return bounds.contains([lat, east])
}

/** The place that is typed as latitude and longitude, 52.4, 13.6 or 52,4 13,6; undefined if there is none. */
export function typedPlace(text) {
  const angle = '(-?\\d+(?:[.,]\\d+)?)°?'
  const [lat, lon] = RegExp(`^\\s*${angle}[,;\\s]\\s*${angle}\\s*$`).exec(text)?.slice(1).map((s) => Number(s.replace(',', '.'))) ?? []
  if (Math.abs(lat) <= 90 && Math.abs(lon) <= 180) return { lat, lon }
}
