// What the page says, in German and English, by the browser's language.

const english = {
  title: 'Algae in lakes',
  map: 'Map of the lakes; the list below says the same in words',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  list: 'All lakes as a list',
  filter: 'Name',
  close: 'Close',
  legend: 'Legend',
  chlorophyll: 'Chlorophyll-a',
  noValue: 'No current value',
  noValueShort: 'no value',
  noValueHelp: 'The satellite has not seen this lake lately, mostly because of clouds. That does not mean that it is clean.',
  measured: 'Measured',
  lastMeasured: 'Last value',
  never: 'never measured',
  trophic: 'Trophic status',
  level: 'Warning level',
  of3: 'of 3',
  reported: 'reported',
  reportedHelp: 'This level was reported by people at the lake. The satellite value alone does not tell it.',
  reportedLowerHelp: 'The level that was reported for this lake is lower than its value tells. The worse of the two is shown.',
  history: 'History (JSON)',
  dataOf: 'As of',
  found: (n, shown) => `${number(n)} ${n === 1 ? 'lake' : 'lakes'}${n > shown ? `, the first ${number(shown)} shown` : ''}`,
  waiting: 'The server is still reading its data. The map comes by itself in a moment.',
  failed: 'The data could not be loaded.',
  offline: 'You are offline. The map comes when the connection is back.',
  tryAgain: 'Try again',
  tilesMissing: 'Parts of the coloured map could not be loaded. A part without colour does not mean clean water.',
  risk: { low: 'Low risk', medium: 'Medium risk', high: 'High risk', unknown: 'Risk unknown' },
  riskHeading: 'Risk',
  riskShort: { low: 'low', medium: 'medium', high: 'high' },
  lastRisk: 'Risk then',
  meaning: {
    low: 'Few algae.',
    medium: 'Many algae: sensitive people and small children may get irritated skin or eyes.',
    high: 'Very many algae: do not bathe, keep children and dogs away.',
  },
  trophicNames: {
    unknown: 'unknown', ultraoligotrophic: 'ultra-oligotrophic (very clear)', oligotrophic: 'oligotrophic (clear)',
    mesotrophic: 'mesotrophic (moderate)', eutrophic: 'eutrophic (rich in nutrients)',
    hypertrophic: 'hypertrophic (overloaded)',
  },
  ranges: { first: (to) => `below ${to}`, middle: (from, to) => `${from} to below ${to}`, last: (from) => `${from} or more` },
  rangesAbove: { first: (to) => `up to ${to}`, middle: (from, to) => `above ${from}, up to ${to}`, last: (from) => `above ${from}` },
  limits: 'A satellite sees neither scum on the shore nor bacteria. The levels hold where blue-green algae dominate, which it does not know. Mind the signs at the lake.',
  simulated: 'Simulated demo data, not measurements',
}

const german = {
  title: 'Algen in Seen',
  map: 'Karte der Seen; die Liste darunter sagt dasselbe in Worten',
  zoomIn: 'Näher heran',
  zoomOut: 'Weiter weg',
  list: 'Alle Seen als Liste',
  filter: 'Name',
  close: 'Schließen',
  legend: 'Legende',
  chlorophyll: 'Chlorophyll-a',
  noValue: 'Kein aktueller Wert',
  noValueShort: 'kein Wert',
  noValueHelp: 'Der Satellit hat diesen See zuletzt nicht gesehen, meist wegen Wolken. Das heißt nicht, dass er sauber ist.',
  measured: 'Gemessen',
  lastMeasured: 'Letzter Wert',
  never: 'nie gemessen',
  trophic: 'Trophie',
  level: 'Warnstufe',
  of3: 'von 3',
  reported: 'gemeldet',
  reportedHelp: 'Diese Stufe haben Menschen am See gemeldet. Der Satellitenwert allein sagt sie nicht.',
  reportedLowerHelp: 'Die für diesen See gemeldete Stufe ist niedriger, als sein Wert besagt. Gezeigt wird die schlimmere von beiden.',
  history: 'Verlauf (JSON)',
  dataOf: 'Stand',
  found: (n, shown) => `${number(n)} ${n === 1 ? 'See' : 'Seen'}${n > shown ? `, davon ${number(shown)} gezeigt` : ''}`,
  waiting: 'Der Server liest noch seine Daten. Die Karte kommt gleich von selbst.',
  failed: 'Die Daten konnten nicht geladen werden.',
  offline: 'Sie sind offline. Die Karte kommt, sobald die Verbindung wieder da ist.',
  tryAgain: 'Nochmals versuchen',
  tilesMissing: 'Teile der farbigen Karte konnten nicht geladen werden. Wo Farbe fehlt, ist das Wasser nicht unbedingt sauber.',
  risk: { low: 'Geringes Risiko', medium: 'Mittleres Risiko', high: 'Hohes Risiko', unknown: 'Risiko unbekannt' },
  riskHeading: 'Risiko',
  riskShort: { low: 'gering', medium: 'mittel', high: 'hoch' },
  lastRisk: 'Risiko damals',
  meaning: {
    low: 'Wenige Algen.',
    medium: 'Viele Algen: Empfindliche Menschen und kleine Kinder können gereizte Haut oder Augen bekommen.',
    high: 'Sehr viele Algen: nicht baden, Kinder und Hunde fernhalten.',
  },
  trophicNames: {
    unknown: 'unbekannt', ultraoligotrophic: 'ultraoligotroph (sehr klar)', oligotrophic: 'oligotroph (klar)',
    mesotrophic: 'mesotroph (mäßig)', eutrophic: 'eutroph (nährstoffreich)', hypertrophic: 'hypertroph (überlastet)',
  },
  ranges: { first: (to) => `unter ${to}`, middle: (from, to) => `${from} bis unter ${to}`, last: (from) => `ab ${from}` },
  rangesAbove: { first: (to) => `bis ${to}`, middle: (from, to) => `über ${from} bis ${to}`, last: (from) => `über ${from}` },
  limits: 'Ein Satellit sieht weder Algenteppiche am Ufer noch Bakterien. Die Stufen gelten, wo Blaualgen vorherrschen; das weiß er nicht. Beachten Sie die Schilder am See.',
  simulated: 'Simulierte Demodaten, keine Messwerte',
}

/** The language of the page: 'de' or 'en'. */
export const language = navigator.language.toLowerCase().startsWith('de') ? 'de' : 'en'

/** The page's words in that language. */
export const words = language === 'de' ? german : english

// How numbers and dates are written, is the reader's own way where the page speaks the reader's language.
const locale = /^(de|en)\b/i.test(navigator.language) ? navigator.language : 'en-GB'

const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 })
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
const ages = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

/** A concentration with its unit. */
export const concentration = (chl) => `${numbers.format(chl)} µg/l`

/** A number in the reader's way of writing. */
export const number = (n) => numbers.format(n)

/** A day, such as 16 Nov 2026. */
export const date = (time) => dates.format(new Date(time))

/** How long ago a time was, in words: today, 3 days ago, 5 weeks ago. */
export function age(time, now = Date.now()) {
  const day = (t) => Math.floor(t / 86_400_000) // by the calendar, as the date beside it
  const days = Math.max(0, day(now) - day(new Date(time)))
  if (days < 14) return ages.format(-days, 'day')
  if (days < 90) return ages.format(-Math.floor(days / 7), 'week')
  return days < 730 ? ages.format(-Math.floor(days / 30.44), 'month') : ages.format(-Math.floor(days / 365.25), 'year')
}
