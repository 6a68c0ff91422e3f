// Starts the page. All addresses are relative, so that the page works under any path.
import { ageText, countFrom, isOld, referenceTime } from './calendar.js'
import { addCard } from './card.js'
import { addControls } from './controls.js'
import { byId, files } from './dom.js'
import { fetchJSON } from './fetchjson.js'
import { addFind } from './find.js'
import { addHeatmap } from './heatmap.js'
import { createLakeStore } from './lakestore.js'
import { lazyScript } from './lazyscript.js'
import { addLegend } from './legend.js'
import { addBasemap, createMap } from './map.js'
import { syncMapPosition } from './mapposition.js'
import { addMarkers } from './markers.js'
import { showLoadError, showMessage, showToast } from './message.js'
import { addOffline } from './offline.js'
import { addNames, addOutlines } from './outlines.js'
import { addShare, embedded } from './share.js'
import { addTelling } from './telling.js'
import { addTimeControl } from './timecontrol.js'
import { createView } from './view.js'
import { normalizeDate } from './weeks.js'
import { date, fill, language, languageLinks, switchLanguage, words } from './words.js'

function translate() {
  byId('load-help').remove()
  document.documentElement.lang = language
  document.title = `${words.common.title} · limnomap`
  const wordsAt = (path) => path.split('.').reduce((group, name) => group[name], words)
  for (const e of /** @type {any} */ (document.querySelectorAll('[data-text]'))) e.textContent = wordsAt(e.dataset.text)
  for (const e of /** @type {any} */ (document.querySelectorAll('[data-label]'))) e.ariaLabel = wordsAt(e.dataset.label)
  const button = byId('language')
  button.textContent = language.toUpperCase()
  button.ariaLabel += `: ${button.textContent}`
  for (const link of languageLinks) {
    if (link.lang === language) link.ariaCurrent = 'true'
    link.onclick = (event) => { // without a script the link loses the view
      event.preventDefault()
      byId('languages').hidePopover()
      switchLanguage(link.lang).catch(() => showToast(words.common.failed))
    }
  }
}

/** @param {Config} config */
function showNotice({ notice, simulated, as_of: day, contact, links }) {
  countFrom(day)
  const box = byId('notice')
  box.textContent = [simulated && language !== 'en' ? words.common.simulated : notice, day && fill(words.common.archive, { date: date(day) })].filter(Boolean).join(' · ')
  box.hidden = !box.textContent
  byId('contact').title = contact?.name ?? ''
  for (const [name, href] of Object.entries({ contact: contact?.url, ...links })) {
    if (href) Object.assign(byId(name), { href, hidden: false })
  }
}

/** Shows the date of the newest value on the map, with a warning for old values and past weeks. @param {Lakes} lakes */
function showDate({ newest, date: week }) {
  const now = referenceTime(null)
  const old = newest && isOld(newest, now)
  const box = byId('date')
  byId('highs').href = `week?lang=${language}${week ? `&date=${week}` : ''}`
  box.classList.toggle('warning', old || week)
  if (week) box.textContent = fill(words.common.pastWeek, { date: date(week) })
  else if (!newest) box.textContent = words.common.noValue
  else box.textContent = fill(old ? words.common.asOfOld : words.common.asOf, { date: date(newest), age: ageText(newest, now) })
}

async function loadAll() {
  const config = await fetchJSON('page.json')
  showNotice(config) // first, because the other answers may take a while
  const names = ['tiles.json', 'legend.json', 'styles', 'bathing-lakes/dates']
  const [tileJSON, legend, { styles, colormaps }, { weeks }] = await Promise.all(names.map((name) => fetchJSON(`api/v1/${name}`)))
  // A server has no version before its first snapshot, which it has now.
  return { config: config.version ? config : await fetchJSON('page.json'), tileJSON, legend, styles, colormaps, weeks }
}

async function start() {
  const view = createView()
  const loaded = await loadAll()
  const dateNote = normalizeDate(view, loaded.weeks)
  const store = createLakeStore(view, loaded)
  await store.load()
  showMessage()
  const map = createMap('map', loaded.config)
  /** @type {Page} */
  const page = { map, view, store, returnFocus: null, position: null, dateNote, ...loaded }
  showDate(store.get())
  store.on(showDate)
  addLegend(page)
  addControls(page)
  syncMapPosition(page)
  addBasemap(page)
  addHeatmap(page)
  addOutlines(page, files.outline).catch(console.warn) // the map works without the outlines
  addNames(page)
  for (const add of [addMarkers, addTimeControl, addCard, addFind, addShare, addTelling, addOffline]) add(page)
  if (!embedded()) lazyScript('highs')().then(({ addHighs }) => addHighs(page)).catch(() => {}) // the map works without its line
  lazyScript('timeline')().then(({ addPrint }) => addPrint(page)).catch(console.warn)
}

const run = () => start().catch((error) => showLoadError(error, run))

translate()
run()
