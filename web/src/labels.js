// Names and values beside the marks, where there is room.
import { boxes } from './boxes.js'
import { around, ringRadius } from './thinning.js'
import { concentration, words } from './words.js'

const leastZoom = 9 // from farther there is no room but for a few, which would look chosen
const size = 12 // px
const fonts = [600, 400].map((weight) => `${weight} ${size}px system-ui, sans-serif`)

/** Writes the labels of marks that are given worst first, as `thin` gives them; the chosen lake has one at every zoom. */
export function drawLabels(ctx, places, zoom, chosen, { ink, paper }) {
  const taken = boxes()
  for (const p of places) taken.add(around(p))
  Object.assign(ctx, { fillStyle: ink, strokeStyle: paper, lineWidth: 3.5, lineJoin: 'round', textBaseline: 'middle' })
  if (chosen) write(ctx, { ...chosen, r: ringRadius(chosen) + 1 }, taken, true)
  if (zoom < leastZoom) return
  for (const p of places) if (p.full && p !== chosen) write(ctx, p, taken)
}

// write writes name and value where nothing else is; what must be there, is.
function write(ctx, p, taken, must) {
  const lines = [p.lake.name, valueOf(p.lake)]
  const width = Math.max(...lines.map((text, i) => {
    ctx.font = fonts[i]
    return ctx.measureText(text).width
  }))
  const places = beside(p, width + 4, size * 2.4)
  const box = places.find((b) => taken.met(b).length === 0) ?? (must && places[0])
  if (!box) return
  taken.add(box)
  lines.forEach((text, i) => {
    ctx.font = fonts[i]
    const at = [text, box[0] + 2, box[1] + size * (0.65 + 1.15 * i)]
    ctx.strokeText(...at)
    ctx.fillText(...at)
  })
}

// beside gives the boxes where a label can stand: right, left, below and above its mark.
function beside({ x, y, r }, w, h) {
  const off = r + 4
  return [[off, -h / 2], [-off - w, -h / 2], [-w / 2, off], [-w / 2, -off - h]]
    .map(([dx, dy]) => [x + dx, y + dy, x + dx + w, y + dy + h])
}

// valueOf says the risk and the value in few words; an old one says that it is.
function valueOf({ chl, old, shown }) {
  if (chl === null) return words.riskShort.none
  return `${words.riskShort[shown.risk]}, ${concentration(chl)}${old ? `, ${words.marks.old}` : ''}`
}
