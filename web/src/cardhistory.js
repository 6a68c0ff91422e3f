// The part of a card that tells how the lake has fared: a chart, and where to get the values.
import { age } from './age.js'
import { drawChart } from './chart.js'
import { element } from './dom.js'
import { address, all, loadHistory, twoYears } from './history.js'
import { date, fill, words } from './words.js'

const patience = 20_000 // ms: who waits longer by a lake with bad reception would rather be told

/**
 * Fills the part of the card of the lake with that id. The function that it returns tells it the week shown, and the day
 * of the value that the card tells of.
 */
export function cardHistory(part, id, legend) {
  const [more, said, figure, json, csv] = part.querySelectorAll('[name=more], [role=status], figure, a')
  json.href = address(id)
  csv.href = `${address(id)}.csv`
  let [asked, have, marked] = []
  const isAll = () => more.ariaPressed === 'true'
  const show = () => {
    const { entries, whole, keptAt } = have
    // A week before what two years hold is shown with all that there is.
    if (!whole && !isAll() && marked[0] < entries[0].date) return read(all)
    more.hidden = whole && !isAll()
    if (entries.length > 0) drawChart(figure, entries, legend, ...marked)
    else said.textContent = words.common.never
    if (keptAt) said.textContent = fill(words.common.dataOf, { date: date(keptAt), age: age(keptAt, Date.now()) })
  }
  const read = async (limit) => {
    const mine = asked = AbortSignal.timeout(patience)
    more.ariaPressed = String(limit === all)
    said.textContent = words.card.loading
    try {
      const found = await loadHistory(id, limit, mine)
      if (mine !== asked) return
      have = found
      said.textContent = ''
      show()
    } catch {
      if (mine !== asked) return
      have = null
      figure.querySelector('svg').replaceChildren()
      said.replaceChildren(...failed(() => read(limit)))
    }
  }
  more.onclick = () => read(isAll() ? twoYears : all)
  return (...now) => {
    const [, day] = marked = now
    if (!asked) read(twoYears)
    else if (have && day > have.newest) read(isAll() ? all : twoYears) // it has come since
    else if (have) show()
  }
}

/** Says that something of a lake could not be loaded, and offers to try again; the card keeps the focus. */
export const failed = (again) => {
  const onclick = ({ target }) => {
    target.closest('article').focus({ preventScroll: true }) // the button goes
    again()
  }
  return [`${words.common.failed} `, element('button', { type: 'button', onclick }, words.common.tryAgain)]
}
