// A canvas over the map that moves and zooms with it, as Leaflet's own canvas renderer does.
import { L } from './leaflet.js'
import { element } from './dom.js'

const padding = 0.25 // of the map's size, on each side: the map can be dragged so far without a redraw

/** Pixels of a canvas per CSS pixel. */
export const pixelRatio = L.Browser.retina ? 2 : 1

/**
 * Adds a canvas that `draw(ctx, bounds)` fills, in the coordinates of the map's layers. Returns a function that draws it again for a
 * print, and one that does so in the next frame.
 * @param {L.Map} map @param {(ctx: CanvasRenderingContext2D, bounds: L.Bounds) => void} draw @param {string} [pane]
 */
export function addCanvasLayer(map, draw, pane = 'marks') {
  /** @type {HTMLCanvasElement} */
  let canvas = element('canvas', { className: 'leaflet-zoom-animated', ariaHidden: 'true' }) // the list has the same content
  map.createPane(pane).append(canvas)
  let bounds
  let centre // of the canvas on the globe
  let zoom
  let animating = false // until moveend
  const render = () => {
    const min = map.containerPointToLayerPoint(map.getSize().multiplyBy(-padding)).round()
    bounds = L.bounds(min, min.add(map.getSize().multiplyBy(1 + 2 * padding)).round())
    centre = map.getCenter()
    zoom = map.getZoom()
    const { x, y } = bounds.getSize()
    Object.assign(canvas, { width: x * pixelRatio, height: y * pixelRatio })
    canvas.style.cssText = `width:${x}px;height:${y}px`
    L.DomUtil.setPosition(canvas, min)
    const ctx = canvas.getContext('2d')
    ctx.setTransform(pixelRatio, 0, 0, pixelRatio, -min.x * pixelRatio, -min.y * pixelRatio)
    draw(ctx, bounds)
  }
  // While the zoom changes, the canvas is scaled; moveend draws it again.
  /** @param {any} event */
  const scale = ({ center = map.getCenter(), zoom: to = map.getZoom() }) => {
    const factor = map.getZoomScale(to, zoom)
    const origin = map.project(center, to).subtract(map.getSize().divideBy(2)).add(L.DomUtil.getPosition(map.getPane('mapPane'))).round()
    L.DomUtil.setTransform(canvas, map.project(centre, to).subtract(bounds.getSize().multiplyBy(factor / 2)).subtract(origin), factor)
  }
  let frame = 0
  const redraw = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      if (!animating) render()
    })
  }
  map.on('zoomanim', () => { animating = true })
  map.on('moveend', () => {
    animating = false
    render()
  })
  map.on('zoom zoomanim', scale) // only zoomanim has the new position
  map.on('move', () => {
    const visible = [[0, 0], map.getSize()].map((point) => map.containerPointToLayerPoint(/** @type {L.PointExpression} */ (point)))
    if (map.getZoom() === zoom && !bounds.contains(visible)) redraw() // dragged beyond the canvas
  })
  render()
  // Chromium prints the drawing commands of a canvas. One that was drawn on before would begin with a white area over the heat map.
  const renderForPrint = () => {
    const fresh = /** @type {HTMLCanvasElement} */ (canvas.cloneNode())
    canvas.replaceWith(fresh)
    canvas = fresh
    render()
  }
  return [renderForPrint, redraw]
}
