// Names and values next to the marks, where there is room.
import { boxIndex } from './boxindex.js'
import { boxAround, ringRadius } from './declutter.js'
import { concentration, words } from './words.js'

const minZoom = 9 // below it there is room for only a few labels, which would look like a selection
const size = 12 // px
const fonts = [600, 400].map((weight) => `${weight} ${size}px system-ui, sans-serif`)

/**
 * Draws the labels of marks, which are sorted worst first. The selected lake has a label at every zoom.
 * @param {CanvasRenderingContext2D} ctx
 * @param {Mark[]} marks
 * @param {number} zoom
 * @param {Mark | undefined} selected
 * @param {{ink: string, paper: string}} colours
 */
export function drawLabels(ctx, marks, zoom, selected, { ink, paper }) {
  const taken = boxIndex()
  for (const m of marks) taken.add(boxAround(m))
  Object.assign(ctx, { fillStyle: ink, strokeStyle: paper, lineWidth: 3.5, lineJoin: 'round', textBaseline: 'middle' })
  if (selected) drawLabel(ctx, { ...selected, r: ringRadius(selected) + 1 }, taken, true)
  if (zoom < minZoom) return
  for (const m of marks) if (m.full && m !== selected) drawLabel(ctx, m, taken)
}

// drawLabel draws name and value where they cover nothing; a required label may cover other marks.
function drawLabel(ctx, mark, taken, required = false) {
  const lines = [mark.lake.name, valueText(mark.lake)]
  const width = Math.max(...lines.map((text, i) => {
    ctx.font = fonts[i]
    return ctx.measureText(text).width
  }))
  const boxes = labelBoxes(mark, width + 4, size * 2.4)
  const box = boxes.find((b) => taken.overlapping(b).length === 0) ?? (required && boxes[0])
  if (!box) return
  taken.add(box)
  lines.forEach((text, i) => {
    ctx.font = fonts[i]
    const at = [text, box[0] + 2, box[1] + size * (0.65 + 1.15 * i)]
    ctx.strokeText(...at)
    ctx.fillText(...at)
  })
}

/** Returns the possible boxes of a label: to the right, to the left, below and above its mark.
 * @param {Pick<Mark, 'x' | 'y' | 'r'>} mark @param {number} w @param {number} h @returns {Box[]} */
export function labelBoxes({ x, y, r }, w, h) {
  const gap = r + 4
  return [[gap, -h / 2], [-gap - w, -h / 2], [-w / 2, gap], [-w / 2, -gap - h]]
    .map(([dx, dy]) => [x + dx, y + dy, x + dx + w, y + dy + h])
}

/** Returns whether the lake is closed, the risk and the value in a few words, and whether the value is old.
 * @param {Pick<Lake, 'chl' | 'old' | 'display' | 'closed'>} lake */
export function valueText({ chl, old, display, closed }) {
  const value = chl === null ? words.riskShort.none : `${words.riskShort[display.risk]}, ${concentration(chl)}${old ? `, ${words.marks.old}` : ''}`
  return closed ? `${words.riskShort.closed} · ${value}` : value
}
