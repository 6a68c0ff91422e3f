// The part of a card that tells how the lake has fared: a chart, and where to get the values.
import { age } from './age.js'
import { chart } from './chart.js'
import { element } from './dom.js'
import { address, all, loadHistory, twoYears } from './history.js'
import { date, fill, words } from './words.js'

const patience = 20_000 // ms: who waits longer by a lake with bad reception would rather be told

/** The history of the lake with that id. `mark` tells it the week shown and the day of the value that the card tells of. */
export function cardHistory(id, legend) {
  const body = element('div')
  const more = element('button', { type: 'button', hidden: true, ariaPressed: 'false' }, words.card.more)
  const link = (form, ending) => element('a', { href: address(id) + ending }, `${words.card.history} (${form})`)
  const box = element('section', { ariaLabel: words.card.history },
    element('div', { className: 'row' }, element('h3', {}, words.card.history), more),
    body, element('p', { className: 'row' }, link('JSON', ''), link('CSV', '.csv')))
  let [asked, have, drawn, marked] = []
  const isAll = () => more.ariaPressed === 'true'
  // A week before what two years hold is shown with all that there is.
  const isBefore = () => !have.whole && !isAll() && marked[0] < have.entries[0].date
  const show = () => {
    const { entries, whole, keptAt } = have
    more.hidden = whole && !isAll()
    if (entries.length === 0) return body.replaceChildren(words.common.never)
    if (isBefore()) return read(all)
    drawn = chart(entries, legend)
    body.replaceChildren(drawn.box)
    if (keptAt) body.prepend(element('p', { className: 'warning' }, fill(words.common.dataOf, { date: date(keptAt), age: age(keptAt, Date.now()) })))
    drawn.mark(...marked)
  }
  const read = async (limit) => {
    const mine = asked = AbortSignal.timeout(patience)
    more.ariaPressed = String(limit === all)
    if (!drawn) body.replaceChildren(words.card.loading)
    try {
      const found = await loadHistory(id, limit, mine)
      if (mine !== asked) return
      have = found
      show()
    } catch {
      if (mine !== asked) return
      drawn = null
      body.replaceChildren(failed(() => read(limit)))
    }
  }
  more.onclick = () => read(isAll() ? twoYears : all)
  const mark = (...now) => {
    marked = now
    if (!asked) read(twoYears)
    else if (drawn && isBefore()) read(all)
    else drawn?.mark(...now)
  }
  return { box, mark }
}

/** Says that something of a lake could not be loaded, and offers to try again. */
export const failed = (again) => element('p', { role: 'alert' }, words.common.failed, ' ',
  element('button', { type: 'button', onclick: again }, words.common.tryAgain))
