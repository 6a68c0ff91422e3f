// Makes a list of places, which serve --places has the page search in place of its own, from a table in CSV:
//
//	node web/mkplaces.mjs --credit "National mapping agency" <towns.csv >places.json
//
// docs/importing.md describes the columns. A bad row is an error that names the row and the column, and nothing is written.
import { readFileSync } from 'node:fs'
import process, { argv, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare, distance, format } from './places.mjs'

const required = ['name', 'lat', 'lon']
const optional = ['population', 'region', 'country', 'postcode', 'other_names']
const maxSameKm = 25 // from one row of a name and a region to another up to which they are one place

// The bounds of data/gazetteer, by which the server checks the list.
const maxPlaces = 500_000
const maxCodes = 500_000
const maxNames = 20
const maxText = 200 // characters
const maxCode = 12 // characters

/** Returns the list as JSON. @param {string} text @param {string} credit */
export function listOf(text, credit) {
  const all = []
  const byName = new Map()
  let codes = 0
  let index
  let row = 1
  try {
    for (const fields of readCSV(text)) {
      if (index && fields.length !== index.fields) fail(`${fields.length} fields: want ${index.fields}, as in row 1`)
      if (index) {
        const place = placeOf((column) => (fields[index[column]] ?? '').trim())
        if ((codes += place.codes.length) > maxCodes) fail(`more than ${maxCodes} postcodes`)
        const key = `${place.names[0]}|${place.region}`
        const same = byName.get(key)?.find((other) => areNear(other, place))
        if (same) join(same, place)
        else if (all.push(place) > maxPlaces) fail(`more than ${maxPlaces} places`)
        else byName.set(key, [...byName.get(key) ?? [], place])
      } else index = indexOf(fields)
      row++
    }
    if (!all.length) fail('no places')
  } catch (error) {
    throw new Error(`row ${row}: ${error.message}`, { cause: error })
  }
  for (const place of all) place.codes.sort((a, b) => compare(a.code, b.code))
  const firstCode = (place) => place.codes[0]?.code ?? ''
  all.sort((a, b) => compare(a.region, b.region) || compare(firstCode(a), firstCode(b)) || a.lat - b.lat || a.lon - b.lon)
  return format(all.map((place) => ({ ...place, name: place.names.join('|') })), checkText('credit', credit))
}

/** @param {string} text @returns {never} */
function fail(text) {
  throw new Error(text)
}

/** Yields the rows of CSV (RFC 4180) as lists of fields, without blank lines. @param {string} text */
function* readCSV(text) {
  const field = /(?:"([^"]*(?:""[^"]*)*)"|([^",\n]*?))(,|\r?\n|\r?$)/y
  let fields = []
  while (field.lastIndex < text.length || fields.length) {
    const [, quoted, plain, end] = field.exec(text) ?? fail('a quote is misplaced: want quotes around whole fields, and doubled inside')
    fields.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    if (fields.length > 1 || fields[0]) yield fields
    fields = []
  }
}

// indexOf returns the index of each column in a row, and how many fields a row has.
function indexOf(header) {
  const names = header.map((name) => name.trim().toLowerCase())
  for (const name of required) if (!names.includes(name)) fail(`no column ${name}`)
  return { fields: names.length, ...Object.fromEntries([...required, ...optional].map((name) => [name, names.indexOf(name)])) }
}

function placeOf(get) {
  const list = (column) => get(column).split(/[;|]/).filter(Boolean)
  const lat = degrees('lat', get('lat'), 90)
  const lon = degrees('lon', get('lon'), 180)
  const region = get('region') ? checkText('region', get('region')) : checkText('country', get('country'))
  if (!/^\d*$/.test(get('population'))) fail(`column population: "${get('population')}" is no whole number of people`)
  const names = [checkName('name', get('name')), ...list('other_names').map((name) => checkName('other_names', name.trim()))]
  const codes = list('postcode').map((code) => code.replace(/[ -]/g, '').toUpperCase())
  const bad = codes.find((code) => !/^[0-9A-Z]+$/.test(code) || code.length > maxCode)
  if (bad !== undefined) fail(`column postcode: "${bad}" has not 1 to ${maxCode} letters and digits`)
  const place = { names: [], region, lat, lon, size: 0, codes: [] }
  join(place, { names, size: Math.min(Number(get('population')), 2 ** 35), codes: codes.map((code) => ({ code, lat, lon })) })
  return place
}

// join adds to a place what another row says about it.
function join(place, { names, size, codes }) {
  place.names = [...new Set([...place.names, ...names])]
  if (place.names.length > maxNames) fail(`column other_names: more than ${maxNames} names of one place`)
  place.size = Math.max(place.size, size)
  for (const code of codes) if (!place.codes.some((known) => known.code === code.code)) place.codes.push(code)
}

const areNear = (a, b) => [-360, 0, 360].some((turn) => distance({ lat: a.lat, lon: a.lon + turn }, b) <= maxSameKm)

function degrees(column, text, most) {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(text) || Math.abs(Number(text)) > most) fail(`column ${column}: "${text}" is no number from -${most} to ${most}`)
  return Number(text)
}

const checkName = (column, text) => checkText(column, text || fail(`column ${column}: empty`))

// checkText refuses what the page cannot show as a name. The server checks it more strictly.
function checkText(column, text) {
  if ([...text].length > maxText) fail(`column ${column}: more than ${maxText} characters`)
  if (/[|\p{Cc}]/u.test(text)) fail(`column ${column}: a | or a control character`)
  if (/[\u2028-\u202e\u2066-\u206f\ufff9-\ufffb\u{e0001}]/u.test(text)) fail(`column ${column}: a character that changes the order of others`)
  return text
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { credit: { type: 'string', default: '' } } })
  try {
    stdout.write(listOf(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(0)), values.credit))
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
