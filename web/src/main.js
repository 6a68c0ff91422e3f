// Puts the page together. Every address is relative, so the page works under any path.
import { addLakes } from './lakes.js'
import { drawLegend } from './legend.js'
import { fillList } from './list.js'
import { load } from './load.js'
import { addBasemap, addHeat, createMap, frame, placeLegend, wide } from './map.js'
import { say, sayFailed } from './message.js'
import { addOutlines } from './outlines.js'
import { withShown } from './shown.js'
import { age, date, language, words } from './words.js'

const byId = (id) => document.getElementById(id)

function translate() {
  document.documentElement.lang = language
  document.title = `${words.title} · limnomap`
  for (const e of document.querySelectorAll('[data-text]')) e.textContent = words[e.dataset.text]
  for (const e of document.querySelectorAll('[data-label]')) e.ariaLabel = words[e.dataset.label]
}

function showNotice({ notice, simulated }) {
  byId('notice').textContent = simulated && language === 'de' ? words.simulated : notice
  byId('notice').hidden = !notice && !simulated
}

function showDate({ lakes }) {
  const newest = lakes.reduce((max, l) => (l.chl !== null && l.measured_at > max ? l.measured_at : max), '')
  byId('date').textContent = newest ? `${words.dataOf} ${date(newest)} (${age(newest)})` : words.noValue
}

async function loadAll() {
  const config = await load('page.json', say)
  showNotice(config) // before all else: what follows may take a while
  const names = ['tiles.json', 'bathing-lakes/status', 'legend.json']
  const answers = await Promise.all(names.map((name) => load(`api/v1/${name}`, say)))
  // Before its first snapshot a server knows no version; now that it has answered, it does.
  return [config.version ? config : await load('page.json', say), ...answers]
}

function draw([config, tileJSON, status, legend]) {
  showDate(status)
  const map = createMap('map', config)
  drawLegend(byId('legend'), legend, wide())
  placeLegend(map, byId('legend'))
  frame(map, status.lakes, tileJSON, byId('legend'))
  addOutlines(map, OUTLINE_URL).catch(console.warn) // an ornament: the map is whole without it
  addBasemap(map, config.basemap)
  addHeat(map, tileJSON, config, () => say(words.tilesMissing))
  const lakes = withShown(status.lakes, legend)
  fillList(byId('list'), lakes, addLakes(map, lakes))
}

function start() {
  const failed = (error) => {
    console.error(error)
    sayFailed(start)
  }
  loadAll().then((data) => {
    say()
    draw(data)
  }, failed)
}

translate()
start()
