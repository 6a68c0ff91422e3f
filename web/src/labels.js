// Names and values next to the marks, where there is room.
import { boxIndex, overlap } from './boxindex.js'
import { boxAround, ringRadius } from './declutter.js'
import { concentration, words } from './words.js'

const minZoom = 9 // below it there is room for only a few labels, which would look like a selection
const valueZoom = 11 // below it values, and names of lakes of low risk, would hide too much of the heat map
const largeAt = 2e5 // km² times 3 to the power of the zoom, from which a lake has a name below that zoom: 10 km² at zoom 9, 3 km² at zoom 10
const halo = 2 // px beside the text

/**
 * Draws the labels of the marks in the visible part of the map, which are sorted worst first, where they cover nothing and lie under no
 * control. The selected lake has a label with its value at every zoom, which may cover marks. No label crosses the edge of the map.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Mark[]} marks
 * @param {import('leaflet').Map} map
 * @param {Mark | undefined} selected
 * @param {{ink: string, paper: string, size: number}} style
 * @param {Map<string, number>} [areas] of lakes in km², if they are known: then large lakes have names before small ones, whatever their values
 * @returns {ReturnType<typeof boxIndex>} what is taken by controls, marks and labels
 */
export function drawLabels(ctx, marks, map, selected, { ink, paper, size }, areas) {
  const taken = boxIndex()
  for (const e of document.querySelectorAll('#controls, .leaflet-control')) taken.add(layerBox(map, e))
  const area = layerBox(map, map.getContainer())
  ctx.textBaseline = 'middle'
  const drawLabel = (mark, lines, required = false) => {
    if (!overlap(area, [mark.x, mark.y, mark.x, mark.y])) return
    const setFont = (i) => { ctx.font = `${600 - 200 * i} ${size}px system-ui, sans-serif` }
    const width = Math.max(...lines.map((text, i) => {
      setFont(i)
      return ctx.measureText(text).width
    })) + 2 * halo
    if (width > area[2] - area[0]) return
    const height = size * 1.2 * lines.length
    const boxes = labelBoxes(mark, width, height, area)
    const box = boxes.find((b) => !taken.overlapping(b)[0]) ?? (required && boxes[0])
    if (!box) return
    taken.add(box)
    const [left, top] = box
    ctx.fillStyle = paper
    ctx.globalAlpha = 0.85
    ctx.beginPath() // one halo for all lines
    ctx.roundRect(left, top, width, height, 3)
    ctx.fill()
    ctx.fillStyle = ink
    ctx.globalAlpha = 1
    lines.forEach((text, i) => {
      setFont(i)
      ctx.fillText(text, left + halo, top + size * (0.65 + 1.15 * i))
    })
  }
  const zoom = map.getZoom()
  const linesOf = ({ lake }) => [lake.name, valueText(lake)]
  if (selected) {
    const ring = { ...selected, r: ringRadius(selected) }
    taken.add(boxAround(ring))
    drawLabel({ ...ring, r: ring.r + 1 }, linesOf(selected), true)
  }
  for (const m of marks) if (m.r || zoom >= minZoom) taken.add(boxAround(m))
  if (zoom < minZoom) return taken
  const weight = ({ lake }) => (lake.closed || lake.warned ? Infinity : areas?.get(lake.id) ?? 0)
  const isNamed = (m) => zoom >= valueZoom || (areas ? weight(m) * 3 ** zoom > largeAt : weight(m) || m.lake.display?.level > 0)
  const named = marks.filter((m) => m.full && m !== selected && isNamed(m)).sort((a, b) => weight(b) - weight(a) || 0) // not NaN
  for (const m of named) drawLabel(m, linesOf(m).slice(0, zoom < valueZoom ? 1 : 2))
  return taken
}

/** Returns the box of an element in the coordinates of the map's layers. @param {import('leaflet').Map} map @param {Element} element @returns {Box} */
function layerBox(map, element) {
  const { left, top, width, height } = element.getBoundingClientRect()
  const { x, y } = map.mouseEventToLayerPoint(/** @type {MouseEvent} */ ({ clientX: left, clientY: top }))
  return [x, y, x + width, y + height]
}

/** Returns the possible boxes of a label: to the right, to the left, below and above its mark, moved into an area.
 * @param {Pick<Mark, 'x' | 'y' | 'r'>} mark @param {number} w @param {number} h @param {Box} area @returns {Box[]} */
export function labelBoxes({ x, y, r }, w, h, [left, top, right, bottom]) {
  const gap = r + 6
  return [[gap, -h / 2], [-gap - w, -h / 2], [-w / 2, gap], [-w / 2, -gap - h]].map(([dx, dy]) => {
    const [l, t] = [Math.max(left, Math.min(x + dx, right - w)), Math.max(top, Math.min(y + dy, bottom - h))]
    return [l, t, l + w, t + h]
  })
}

/** Returns whether the lake is closed, the risk and the value in a few words, and whether the value is old.
 * @param {Pick<Lake, 'chl' | 'old' | 'display' | 'closed'>} lake */
export function valueText({ chl, old, display, closed }) {
  const value = chl === null ? words.riskShort.none : `${words.riskShort[display.risk]}, ${concentration(chl)}${old ? `, ${words.marks.old}` : ''}`
  return closed ? `${words.riskShort.closed} · ${value}` : value
}
