// The canvas that the marks are drawn on.
import * as L from 'leaflet'

/**
 * A layer with a canvas that `draw(ctx, [left, top, right, bottom])` fills: the bounds, and what is drawn, count in
 * pixels of the whole world at the map's zoom. It is as sharp as the screen, follows while the map zooms, and is drawn anew when
 * the map has moved; `redraw` does so at the next frame. It takes no clicks from what lies below.
 */
export const MarkLayer = L.Renderer.extend({
  initialize(options, draw) {
    L.Renderer.prototype.initialize.call(this, { padding: 0.2, ...options })
    this.draw = draw
  },
  getEvents() {
    return { ...L.Renderer.prototype.getEvents.call(this), move: this._follow }
  },
  redraw() {
    this._frame ??= requestAnimationFrame(() => {
      this._frame = undefined
      if (this._map) this._update()
    })
  },
  _initContainer() {
    this._container = document.createElement('canvas')
    this._container.ariaHidden = 'true' // the list says the same
    this._context = this._container.getContext('2d')
  },
  _destroyContainer() {
    this._container.remove()
    this._container = undefined
  },
  // A map that is dragged far shows what was not drawn before it comes to rest.
  _follow() {
    const { min, max } = this._bounds
    const view = L.bounds(this._map.containerPointToLayerPoint([0, 0]), this._map.containerPointToLayerPoint(this._map.getSize()))
    if (!this._map._animatingZoom && this._map.getZoom() === this._zoom && !L.bounds(min, max).contains(view)) this.redraw()
  },
  _update() {
    if (this._map._animatingZoom && this._bounds) return
    L.Renderer.prototype._update.call(this)
    const { min } = this._bounds
    const size = this._bounds.getSize()
    const [canvas, ctx, ratio] = [this._container, this._context, window.devicePixelRatio]
    L.DomUtil.setPosition(canvas, min)
    canvas.width = Math.round(size.x * ratio) // which clears it
    canvas.height = Math.round(size.y * ratio)
    canvas.style.width = `${size.x}px`
    canvas.style.height = `${size.y}px`
    const { x, y } = min.add(this._map.getPixelOrigin())
    ctx.setTransform(ratio, 0, 0, ratio, -x * ratio, -y * ratio)
    this.draw(ctx, [x, y, x + size.x, y + size.y])
  },
})
