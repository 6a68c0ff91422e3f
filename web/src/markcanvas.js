// The canvas that the marks are drawn on: Leaflet's own, which is sharp, lies over the map and follows it.
import * as L from 'leaflet'

/**
 * Lays a canvas over the map that `draw(ctx, bounds)` fills, in pixels of the map's layers. Returns what has it drawn
 * anew at the next frame.
 */
export function markCanvas(map, draw) {
  map.createPane('marks')
  const Canvas = L.Canvas.extend({
    _draw() { draw(this._ctx, this._bounds) },
    _reset() {
      L.Canvas.prototype._reset.call(this)
      L.DomUtil.setPosition(this._container, this._bounds.min) // Leaflet leaves it between two pixels, where it blurs
    },
  })
  const canvas = new Canvas({ pane: 'marks', padding: 0.25 }).addTo(map)
  canvas._container.ariaHidden = 'true' // the list says the same
  let frame = 0
  const redraw = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      canvas._update()
    })
  }
  map.on('move', () => {
    const seen = [[0, 0], map.getSize()].map((corner) => map.containerPointToLayerPoint(corner))
    if (map.getZoom() === canvas._zoom && !canvas._bounds.contains(seen)) redraw() // dragged beyond what is drawn
  })
  return redraw
}
