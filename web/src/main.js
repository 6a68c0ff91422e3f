// Puts the page together. Every address is relative, so the page works under any path.
import { age, isOld, reference } from './age.js'
import { addCard } from './card.js'
import { addControls } from './controls.js'
import { byId, files } from './dom.js'
import { addFind } from './find.js'
import { frame } from './frame.js'
import { addHeat } from './heat.js'
import { addLegend } from './legend.js'
import { load } from './load.js'
import { addBasemap, createMap } from './map.js'
import { addMarkers } from './markers.js'
import { say, sayFailed } from './message.js'
import { addOffline } from './offline.js'
import { addOutlines } from './outlines.js'
import { addPrint } from './print.js'
import { addShare } from './share.js'
import { createStatus } from './status.js'
import { addTime } from './time.js'
import { createView } from './view.js'
import { settleDate } from './weeks.js'
import { date, fill, language, other, switchLanguage, words } from './words.js'

function translate() {
  byId('late').remove()
  document.documentElement.lang = language
  document.title = `${words.common.title} · limnomap`
  const wordsAt = (path) => path.split('.').reduce((group, name) => group[name], words)
  for (const e of document.querySelectorAll('[data-text]')) e.textContent = wordsAt(e.dataset.text)
  for (const e of document.querySelectorAll('[data-label]')) e.ariaLabel = wordsAt(e.dataset.label)
  const button = byId('language')
  button.lang = other
  button.onclick = switchLanguage
}

function showNotice({ notice, simulated }) {
  byId('notice').textContent = simulated && language === 'de' ? words.common.simulated : notice
  byId('notice').hidden = !notice && !simulated
}

// showDate says of when the newest value is that the map shows; of a past week and of old values, that they are.
function showDate({ newest, date: week }) {
  const now = reference(null)
  const old = newest && isOld(newest, now)
  const box = byId('date')
  box.classList.toggle('warning', old || week)
  if (week) box.textContent = fill(words.common.pastWeek, { date: date(week) })
  else if (!newest) box.textContent = words.common.noValue
  else box.textContent = fill(old ? words.common.dataOld : words.common.dataOf, { date: date(newest), age: age(newest, now) })
}

async function loadAll() {
  const config = await load('page.json', say)
  showNotice(config) // before all else: what follows may take a while
  const names = ['tiles.json', 'legend.json', 'styles', 'bathing-lakes/dates']
  const [tileJSON, legend, { styles }, { weeks }] = await Promise.all(names.map((name) => load(`api/v1/${name}`, say)))
  // Before its first snapshot a server knows no version; now that it has answered, it does.
  return { config: config.version ? config : await load('page.json', say), tileJSON, legend, styles, weeks }
}

async function start() {
  const view = createView()
  const known = await loadAll()
  known.dateSaid = settleDate(view, known.weeks)
  const status = createStatus({ view, say, failed, ...known })
  await status.load()
  say()
  const map = createMap('map', known.config)
  const page = { map, view, status, say, returnFocus: null, here: null, ...known }
  showDate(status.get())
  status.on(showDate)
  addLegend(page)
  frame(page)
  addBasemap(page)
  addHeat(page)
  addOutlines(page, files.outline).catch(console.warn) // an ornament, and asked for last: the map is whole without it
  for (const add of [addMarkers, addControls, addTime, addCard, addFind, addShare, addOffline, addPrint]) add(page)
}

function failed(error, again) {
  console.error(error)
  sayFailed(again)
}

const run = () => start().catch((error) => failed(error, run))

translate()
run()
