// The heat map: the tiles that show the values of the week, and unseen behind them those of the weeks to come.
import * as L from 'leaflet'
import { byId } from './dom.js'
import { safe } from './map.js'
import { addAgain } from './retry.js'

/** The opacity of the heat map in %, where the view names none. */
export const usualOpacity = 85

const perTile = 15 // ms from one week to the next for each tile of the view: two thirds of the 6000 a minute that a server gives

/**
 * Adds the heat map of the view's week and style in config.version, at twice the pixels on a screen that has them. The
 * address is the page's own: the TileJSON's may name the server by a host other than the one that the page was asked
 * from, and the page's Content-Security-Policy allows no other origin. Another week is shown once all its tiles are
 * there, at the same moment as its lakes. A tile that fails is asked for again; the page says it while one stays away,
 * since a hole in the map must not pass for clear water.
 *
 * Gives page.heat: `ahead` has the tiles of those dates loaded in advance, and drops what it loaded before; `pace` is
 * the least time in ms from one week to the next that the server bears.
 */
export function addHeat(page) {
  const { map, view, status, config, styles, tileJSON } = page
  const layers = new Map() // by their address: the one shown, the one to come and those ahead
  let shown
  let dates = []
  const opacity = () => (view.get().opacity ?? usualOpacity) / 100
  const tell = () => { byId('missing').hidden = !shown.getContainer().querySelector('.missing') }
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
    addAgain(layer, tell)
    return layer.addTo(map)
  }
  const layerOf = (date) => {
    const url = address(date, view.get(), styles, config)
    if (!layers.has(url)) layers.set(url, add(url))
    return layers.get(url)
  }
  const drop = () => {
    const kept = [shown, ...[view.get().date, ...dates].map(layerOf)]
    for (const [url, layer] of layers) {
      if (kept.includes(layer)) continue
      layers.delete(url)
      layer.remove()
    }
  }
  const show = (layer) => {
    layer.getContainer().classList.replace('heat-ahead', 'heat')
    shown = layer
    drop()
    tell()
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
      drop()
    },
    pace: () => perTile * tilesOf(shown).length,
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

// loaded waits, however slow the network, until all tiles of a layer that is not seen yet are there or given up (the last
// failure, too, is followed by `load`), or until nobody wants it any more.
async function loaded(layer) {
  const coming = () => layer.getContainer() && (layer.isLoading() || layer.awaited.size > 0)
  while (coming()) await new Promise((resolve) => { layer.once('load remove', resolve) })
  const tiles = tilesOf(layer)
  if (tiles.length > 0 && tiles.every((tile) => tile.matches('.missing'))) throw new Error('not one tile could be loaded')
}

const tilesOf = (layer) => [...layer.getContainer()?.querySelectorAll('img') ?? []]

// ownAttribution is whom the data are owed to. The TileJSON's says the notice as well; here that stands above the map,
// in the reader's language.
const ownAttribution = ({ attribution, notice }) => (attribution === notice ? '' : attribution)
