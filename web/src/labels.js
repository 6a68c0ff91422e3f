// Names and values beside the marks, where there is room.
import { boxes } from './boxes.js'
import { around, ringRadius } from './thinning.js'
import { concentration, words } from './words.js'

const leastZoom = 9 // from farther there is no room but for a few, which would look chosen
const size = 12 // px
const font = (weight) => `${weight} ${size}px system-ui, sans-serif`

/** Writes the labels of marks that are given worst first, as `thin` gives them; the chosen lake has one at every zoom. */
export function drawLabels(ctx, places, zoom, chosen, { ink, paper }) {
  const taken = boxes()
  for (const p of places) taken.add(around(p))
  ctx.fillStyle = ink
  ctx.strokeStyle = paper
  ctx.lineWidth = 3.5
  ctx.lineJoin = 'round'
  ctx.textBaseline = 'middle'
  if (chosen) write(ctx, { ...chosen, r: ringRadius(chosen) + 1 }, linesOf(chosen), taken, true)
  if (zoom < leastZoom) return
  for (const p of places) {
    if (!p.full || p === chosen) continue
    const lines = linesOf(p)
    // Where there is no room for the name there may be some for the value.
    if (!write(ctx, p, lines, taken)) write(ctx, p, lines.slice(1), taken)
  }
}

const linesOf = ({ lake }) => [[600, lake.name], [400, valueOf(lake)]]

// write writes the lines where nothing else is, and reports whether there is such a place. What must be there, is.
function write(ctx, p, lines, taken, must) {
  const width = Math.max(...lines.map(([weight, text]) => measure(ctx, weight, text)))
  const places = beside(p, width, lines.length)
  const box = places.find((b) => taken.met(b).length === 0) ?? (must ? places[0] : null)
  if (!box) return false
  taken.add(box)
  lines.forEach(([weight, text], i) => {
    ctx.font = font(weight)
    const at = [text, box[0] + 2, box[1] + size * (0.65 + 1.15 * i)]
    ctx.strokeText(...at)
    ctx.fillText(...at)
  })
  return true
}

const most = 20_000 // widths kept: measuring takes longer than all else
const widths = new Map()

function measure(ctx, weight, text) {
  const key = weight + text
  if (!widths.has(key)) {
    if (widths.size === most) widths.clear()
    ctx.font = font(weight)
    widths.set(key, ctx.measureText(text).width)
  }
  return widths.get(key)
}

// beside gives the boxes where a label can stand: right, left, below and above its mark.
function beside({ x, y, r }, width, lines) {
  const [w, h, off] = [width + 4, size * 1.2 * lines, r + 4]
  return [[off, -h / 2], [-off - w, -h / 2], [-w / 2, off], [-w / 2, -off - h]]
    .map(([dx, dy]) => [x + dx, y + dy, x + dx + w, y + dy + h])
}

// valueOf says the risk and the value in few words; an old one says that it is.
function valueOf({ chl, old, shown }) {
  if (chl === null) return words.riskShort.none
  return `${words.riskShort[shown.risk]}, ${concentration(chl)}${old ? `, ${words.marks.old}` : ''}`
}
