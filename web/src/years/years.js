// Lays the years of the compared lakes over one another, so that seasons can be compared. It is a script of its own, which loads when it is first
// needed.
import { element } from '../dom.js'
import { fill } from '../words.js'
import { byYear, highest } from './split.js'
import css from './years.css'

let started = false

const restore = new WeakMap() // by chart with the years over one another

/**
 * Replaces the chart by one with the years over one another, and adds the highest value of each year to the table; at the next press it restores both.
 * `draw` makes a chart of the parts into which it splits the line of each lake.
 * @param {HTMLElement} box @param {any} tools of the card @param {(split: (line: Entry[]) => Entry[][]) => HTMLElement | ''} draw
 */
export function overlay(box, { words: text, valueText }, draw) {
  const before = box.querySelector('div.plot')
  if (!before) return
  if (restore.has(before)) return restore.get(before)()
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  if (!started) document.adoptedStyleSheets.push(sheet)
  started = true
  /** @type {Entry[][]} */
  const lines = []
  draw((line) => {
    lines.push(line)
    return [line]
  })
  const newest = Math.max(...lines.flat().map(({ date }) => Number(date.slice(0, 4))))
  const plot = /** @type {HTMLElement} */ (draw((line) => byYear(line, newest)))
  for (const name of plot.querySelectorAll('.month')) if (/^\d+$/.test(name.textContent)) name.remove()
  before.replaceWith(plot)
  const [head, ...rows] = box.querySelectorAll('tr')
  const added = [element('th', { scope: 'col' }, text.highest), ...lines.map((line) => (
    element('td', {}, ...highest(line, newest).flatMap((e) => [`${e.date.slice(0, 4)}: ${valueText(e)}`, element('br')])))),
  element('p', {}, fill(text.faint, { year: newest }))]
  for (const [i, row] of [head, ...rows].entries()) row.append(added[i])
  plot.after(added.at(-1))
  const button = box.querySelector('[aria-pressed]')
  button.ariaPressed = 'true'
  restore.set(plot, () => {
    plot.replaceWith(before)
    for (const e of added) e.remove()
    button.ariaPressed = 'false'
  })
}
