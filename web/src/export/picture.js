// Pictures of parts of the page, as they are on the screen.

const timeout = 5000 // ms to load a tile of another site again
const properties = [
  'fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'stroke-linecap', 'stroke-opacity', 'opacity',
  'font-family', 'font-size', 'font-weight', 'text-anchor', 'display',
]

/**
 * Returns an SVG of the page as an image, with the styles that it has there. `leaveOut` selects parts that it does not show.
 * @param {SVGSVGElement} original @param {number} width @param {number} height @param {string} [leaveOut]
 */
export async function svgImage(original, width, height, leaveOut) {
  const copy = /** @type {SVGSVGElement} */ (original.cloneNode(true))
  const copies = [copy, ...copy.querySelectorAll('*')]
  for (const [i, e] of [original, ...original.querySelectorAll('*')].entries()) {
    const style = getComputedStyle(e)
    for (const name of properties) copies[i].setAttribute(name, style.getPropertyValue(name)) // attributes, which no policy forbids in an image
    copies[i].removeAttribute('style')
  }
  if (leaveOut) for (const e of copy.querySelectorAll(leaveOut)) e.remove()
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  copy.setAttribute('width', String(width))
  copy.setAttribute('height', String(height))
  return loadImage(`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`)
}

/** Loads an image. One of another site is loaded only if that site allows it to be copied.
 * @param {string} src @returns {Promise<HTMLImageElement>} */
export async function loadImage(src) {
  const image = Object.assign(new Image(), { crossOrigin: 'anonymous', src })
  await Promise.race([image.decode(), new Promise((_, reject) => { setTimeout(reject, timeout, new Error(`${src}: too late`)) })])
  return image
}

/**
 * Returns a function that draws the map: outlines, tiles and marks. `lacksBasemap` reports that the site of the basemap does not allow copies.
 * @param {import('leaflet').Map} map
 */
export async function mapPicture(map) {
  const box = map.getContainer()
  const { left, top, width, height } = box.getBoundingClientRect()
  const layers = []
  let lacksBasemap = false
  let lacksTiles = false // some of the heat map are not loaded yet
  const add = (source, e, { opacity = '1', filter = 'none' } = {}) => {
    const r = e.getBoundingClientRect()
    if (r.width > 0) layers.push({ source, x: r.left - left, y: r.top - top, width: r.width, height: r.height, opacity: Number(opacity), filter })
  }
  const outlines = /** @type {SVGSVGElement | null} */ (box.querySelector('.leaflet-outlines-pane svg'))
  if (outlines) {
    const r = outlines.getBoundingClientRect()
    add(await svgImage(outlines, r.width, r.height), outlines)
  }
  const tileLayers = /** @type {HTMLElement[]} */ ([...box.querySelectorAll('.leaflet-tile-pane > .leaflet-layer:not(.heatmap-next)')])
  for (const layer of tileLayers.sort((a, b) => Number(a.style.zIndex) - Number(b.style.zIndex))) {
    const tiles = /** @type {HTMLImageElement[]} */ ([...layer.querySelectorAll('img.leaflet-tile-loaded')])
    if (layer.matches('.basemap') && tiles.length === 0) lacksBasemap = true
    if (layer.matches('.heatmap') && layer.querySelector('img:not(.leaflet-tile-loaded)')) lacksTiles = true
    const style = getComputedStyle(layer)
    const images = await Promise.all(tiles.map((tile) => (new URL(tile.src).origin === location.origin ? tile : loadImage(tile.src).catch(() => null))))
    if (images.includes(null)) lacksBasemap = true
    images.forEach((image, i) => { if (image) add(image, tiles[i], style) })
  }
  const marks = box.querySelector('.leaflet-marks-pane canvas')
  if (marks && getComputedStyle(marks).visibility === 'visible') add(marks, marks)
  const ruler = /** @type {HTMLElement | null} */ (box.querySelector('.leaflet-control-scale-line'))
  return {
    width,
    height,
    lacksBasemap,
    lacksTiles,
    /** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {(name: string) => string} colour */
    draw(ctx, x, y, colour) {
      ctx.beginPath()
      ctx.rect(x, y, width, height)
      ctx.clip()
      ctx.fillStyle = getComputedStyle(box).backgroundColor
      ctx.fillRect(x, y, width, height)
      for (const layer of layers) {
        ctx.globalAlpha = layer.opacity
        ctx.filter = layer.filter
        ctx.drawImage(layer.source, x + layer.x, y + layer.y, layer.width, layer.height)
      }
      ctx.globalAlpha = 1
      ctx.filter = 'none'
      if (ruler) drawRuler(ctx, x + 8, y + height - 8, ruler, colour)
    },
  }
}

// drawRuler draws the scale of the map, with its length above.
function drawRuler(ctx, x, y, ruler, colour) {
  const path = new Path2D(`M${x} ${y - 5}v5h${ruler.offsetWidth}v-5`)
  for (const [strokeStyle, lineWidth] of [[colour('--paper'), 5], [colour('--ink'), 2]]) {
    Object.assign(ctx, { strokeStyle, lineWidth, lineJoin: 'round' })
    ctx.stroke(path)
    ctx.font = `12px ${getComputedStyle(ruler).fontFamily}`
    if (lineWidth > 2) ctx.strokeText(ruler.textContent, x + 3, y - 8)
  }
  ctx.fillStyle = colour('--ink')
  ctx.fillText(ruler.textContent, x + 3, y - 8)
}
