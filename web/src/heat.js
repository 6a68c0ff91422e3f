// The heat map: the tiles that show the values of the week, and unseen behind them those of the weeks to come.
import * as L from 'leaflet'
import { safe } from './map.js'
import { addAgain } from './retry.js'
import { words } from './words.js'

/** The opacity of the tiles, in percent, where the view names none. */
export const usualOpacity = 85

const perTile = 15 // ms from one week to the next for each tile of the view: two thirds of the 6000 a minute that a server gives
const slowest = 8000 // ms

/**
 * Adds the heat map of the view's week and style in config.version, at twice the pixels on a screen that has them. The
 * address is the page's own: the TileJSON's may name the server by a host other than the one that the page was asked
 * from, and the page's Content-Security-Policy allows no other origin. Another week is shown once all its tiles are
 * there, at the same moment as its lakes. A tile that fails is asked for again; the page says it when one stays away,
 * since a hole in the map must not pass for clear water.
 *
 * Gives page.heat: `ahead` has the tiles of those dates loaded in advance, and drops what it loaded before; `pace` is
 * the least time in ms from one week to the next that the server bears.
 */
export function addHeat(page) {
  const { map, view, status, config, styles, tileJSON, say } = page
  const layers = new Map() // by their address: the one shown, the one to come and those ahead
  let shown = null
  let dates = []
  let slowed = 0
  const opacity = () => (view.get().opacity ?? usualOpacity) / 100
  let said = false
  const tell = () => {
    const missing = shown.getContainer().querySelector('.missing') !== null
    if (missing || said) say(missing ? words.heat.missing : '')
    said = missing
  }
  const add = (url) => {
    const layer = L.tileLayer(url, {
      minZoom: tileJSON.minzoom,
      maxNativeZoom: tileJSON.maxzoom,
      maxZoom: 24,
      opacity: opacity(),
      zIndex: 2, // above the basemap, whichever was added last
      attribution: safe(ownAttribution(config)),
      className: 'heat-ahead',
    })
    layer.on('tileloadstart', ({ tile }) => { tile.decoding = 'sync' }) // else the first picture shown may lack it
    addAgain(layer, () => { slowed = Math.min(slowest, Math.max(1000, slowed * 2)) }, () => { if (layer === shown) tell() })
    return layer.addTo(map)
  }
  const layerOf = (date) => {
    const url = address(date, view.get(), styles, config)
    if (!layers.has(url)) layers.set(url, add(url))
    return layers.get(url)
  }
  const drop = () => {
    const kept = new Set([shown, ...[view.get().date, ...dates].map(layerOf)])
    for (const [url, layer] of layers) {
      if (kept.has(layer)) continue
      layers.delete(url)
      layer.remove()
    }
  }
  const show = (layer) => {
    if (layer === shown) return
    layer.getContainer().classList.replace('heat-ahead', 'heat')
    const before = shown
    shown = layer
    if (before) drop()
    setTimeout(tell) // when whoever loaded the lakes has taken back what it said
  }
  status.together(async (date) => {
    const layer = layerOf(date)
    drop()
    if (layer !== shown) {
      layer.askAgain() // it may be the second time that somebody wants it
      await loaded(layer)
    }
    return () => show(layer)
  })
  view.on(['opacity'], () => layers.forEach((layer) => layer.setOpacity(opacity())))
  window.addEventListener('online', () => shown.askAgain())
  show(layerOf(view.get().date))
  page.heat = {
    ahead: (next) => {
      dates = next
      if (next.length === 0) slowed = 0
      drop()
    },
    pace: () => Math.max(slowed, perTile * shown.getContainer().querySelectorAll('img').length),
  }
}

// address leaves out what is so by itself, so that one map has one address, and is kept once.
function address(date, { style }, styles, { version }) {
  const query = new URLSearchParams()
  if (date) query.set('date', date)
  if (styles.some((s) => s.id === style && !s.default)) query.set('style', style)
  query.set('v', version)
  return `api/v1/tiles/{z}/{x}/{y}{r}.png?${query}`
}

// loaded waits, however slow the network, until all tiles of a layer that is not seen yet are there or given up: the last failure, too, is followed by `load`.
async function loaded(layer) {
  while (layer.isLoading() || layer.awaited.size > 0) await new Promise((resolve) => { layer.once('load', resolve) })
  const tiles = [...layer.getContainer().querySelectorAll('img')]
  const there = tiles.filter((tile) => !tile.matches('.missing'))
  if (tiles.length > 0 && there.length === 0) throw new Error('not one tile could be loaded')
  await Promise.all(there.map((tile) => tile.decode().catch(() => {}))) // one that the map dropped meanwhile
  await new Promise((resolve) => { setTimeout(resolve, 250) }) // Leaflet fades tiles in
}

// ownAttribution is whom the data are owed to. The TileJSON's says the notice as well; here that stands above the map,
// in the reader's language.
const ownAttribution = ({ attribution, notice }) => (attribution === notice ? '' : attribution)
