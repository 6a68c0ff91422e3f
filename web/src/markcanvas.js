// The canvas that the marks are drawn on.
import * as L from 'leaflet'

const air = 160 // px beyond the map's edges, which a map that zooms out shows

/**
 * Lays a canvas over the map that `draw(ctx, [left, top, right, bottom])` fills, counting in pixels of the whole world
 * at the map's zoom. It is as sharp as the screen and follows the map. Returns what has it drawn anew at the next frame.
 */
export function markCanvas(map, draw) {
  const canvas = map.createPane('marks').appendChild(document.createElement('canvas'))
  canvas.className = 'leaflet-zoom-animated'
  canvas.ariaHidden = 'true' // the list says the same
  const ctx = canvas.getContext('2d')
  let [frame, zoom, corner, at] = []
  const paint = () => {
    frame = 0
    if (map._animatingZoom) return // it is drawn when that has come to its end
    at = map.containerPointToLayerPoint([-air, -air])
    zoom = map.getZoom()
    corner = map.layerPointToLatLng(at)
    L.DomUtil.setTransform(canvas, at, 1)
    const size = map.getSize().add([2 * air, 2 * air])
    const ratio = window.devicePixelRatio
    canvas.width = size.x * ratio // which clears it
    canvas.height = size.y * ratio
    canvas.style.width = `${size.x}px`
    canvas.style.height = `${size.y}px`
    const min = map.getPixelOrigin().add(at)
    const max = min.add(size)
    ctx.setTransform(ratio, 0, 0, ratio, -min.x * ratio, -min.y * ratio)
    draw(ctx, [min.x, min.y, max.x, max.y])
  }
  const redraw = () => { frame ||= requestAnimationFrame(paint) }
  const stretch = (to) => L.DomUtil.setTransform(canvas, map._latLngToNewLayerPoint(corner, to.zoom, to.center), map.getZoomScale(to.zoom, zoom))
  paint()
  map.on('zoomanim', stretch)
  map.on('move', () => {
    if (map.getZoom() !== zoom) return stretch({ zoom: map.getZoom(), center: map.getCenter() })
    const { x, y } = map.containerPointToLayerPoint([-air, -air]).subtract(at)
    if (Math.max(Math.abs(x), Math.abs(y)) > air) redraw() // the map is dragged beyond what is drawn
  })
  map.on('moveend resize', redraw)
  return redraw
}
