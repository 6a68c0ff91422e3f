// Two weeks side by side: to the left of a border, which the user moves, the map shows another week. The marks and the list stay those of the
// selected week, so the left part has no marks.
import { byId, element } from '../dom.js'
import { defaultOpacity } from '../heatmap.js'
import { L } from '../leaflet.js'
import { retryTiles, tileURL } from '../tiles.js'
import { dateOf, describeWeek, indexOf } from '../weeks.js'
import { words } from '../words.js'
import css from './beside.css'

const step = 5 // % of the map, by an arrow key
const weeksBefore = 4 // at first

let started = false

/** Shows the week of the view's `beside` while it has one, and with `toggles` sets it, or removes it. @param {Page} page @param {unknown} [toggles] */
export function showBeside(page, toggles) {
  if (toggles) {
    const { beside, date } = page.view.get()
    page.view.set({ beside: beside ? null : page.weeks[Math.max(0, indexOf(page.weeks, date) - weeksBefore)].date })
  }
  if (started) return
  started = true
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  const { map, view, store, tileJSON } = page
  const text = words.time
  const box = map.getContainer()
  const button = byId('time').querySelector('.beside')
  const [previous, next] = ['previous', 'next'].map((name) => element('button', { type: 'button', className: name, ariaLabel: text[name], title: text[name] }))
  const [then, now] = [element('span'), element('p', { className: 'now' })]
  const slider = element('input', { type: 'range', min: 0, max: 100, step: 0.5, value: 50, ariaLabel: text.border })
  const border = element('div', { id: 'border' }, element('p', { className: 'then' }, previous, then, next), now, slider)
  box.after(border)
  let layer = null
  let url

  const indexNow = () => Math.max(0, indexOf(page.weeks, view.get().beside))
  const move = () => {
    const x = box.clientWidth * slider.value / 100
    border.style.setProperty('--at', `${x}px`)
    box.style.setProperty('--border-x', `${x - L.DomUtil.getPosition(map.getPane('mapPane')).x}px`)
  }
  const update = () => {
    const state = view.get()
    const on = state.beside !== null && page.weeks.length > 1
    border.hidden = !on
    button.ariaPressed = String(on)
    box.classList.toggle('two-weeks', on)
    const i = indexNow()
    const wanted = on ? tileURL({ ...state, date: dateOf(page.weeks, i), forecast: null }, page) : ''
    if (wanted !== url) {
      url = wanted
      layer?.remove()
      layer = on ? L.tileLayer(url, { minZoom: tileJSON.minzoom, maxNativeZoom: tileJSON.maxzoom, maxZoom: 24, zIndex: 2, className: 'heatmap-beside' }) : null
      if (layer) {
        retryTiles(layer, () => {})
        layer.addTo(map)
      }
    }
    layer?.setOpacity((state.opacity ?? defaultOpacity) / 100)
    if (!on) return
    then.textContent = describeWeek(page.weeks[i])
    now.textContent = byId('time').querySelector('strong').textContent
    slider.ariaValueText = `${then.textContent} | ${now.textContent}`
    previous.ariaDisabled = i === 0
    next.ariaDisabled = i === page.weeks.length - 1
    move()
  }
  const go = (i) => { if (page.weeks[i]) view.set({ beside: page.weeks[i].date }) }
  previous.onclick = () => go(indexNow() - 1)
  next.onclick = () => go(indexNow() + 1)
  slider.oninput = move
  slider.onkeydown = (event) => {
    const sign = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key]
    if (!sign) return
    event.preventDefault()
    slider.value = slider.valueAsNumber + sign * step
    move()
  }
  view.on(['beside', 'date', 'forecast', 'style', 'colormap', 'risk', 'opacity'], update)
  store.on(update)
  map.on('move zoomend resize viewreset', move)
  update()
}
