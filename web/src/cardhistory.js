// The part of a card that tells how the lake has fared: a chart, the same as a table, and where to get all of it.
import { age } from './age.js'
import { chart } from './chart.js'
import { element } from './dom.js'
import { inWords } from './entry.js'
import { address, all, loadHistory, twoYears } from './history.js'
import { date, fill, number, words } from './words.js'

const mostRows = 500
const patience = 20_000 // ms: who waits longer by a lake with bad reception would rather be told

/** The history of the lake with that id. `mark` tells it the week shown and the day of the value that the card tells of. */
export function cardHistory(id, legend) {
  const body = element('div')
  const more = element('button', { type: 'button', hidden: true, ariaPressed: 'false' }, words.card.all)
  const links = ['JSON', 'CSV'].map((form) => (
    element('a', { href: address(id) + (form === 'CSV' ? '.csv' : '') }, fill(words.card.as, { form }))
  ))
  const box = element('section', { ariaLabel: words.card.history },
    element('div', { className: 'row' }, element('h3', {}, words.card.history), more),
    body, element('p', { className: 'row' }, ...links))
  let [asked, have, drawn, marked] = []
  const isAll = () => more.ariaPressed === 'true'
  // A week before what two years hold is shown with all that there is.
  const isBefore = () => !have.whole && !isAll() && marked[0] < have.entries[0].date
  const show = () => {
    const { entries, whole, keptAt } = have
    more.hidden = whole && !isAll()
    if (entries.length === 0) return body.replaceChildren(element('p', {}, words.common.never))
    if (isBefore()) return read(all)
    drawn = chart(entries, legend)
    body.replaceChildren(drawn.box, table(entries, legend))
    if (keptAt) body.prepend(element('p', { className: 'warning' }, fill(words.card.kept, { date: date(keptAt), age: age(keptAt, Date.now()) })))
    if (!whole && isAll()) body.append(onlyNewest(all))
    drawn.mark(...marked)
  }
  const read = async (limit) => {
    asked?.abort()
    const mine = asked = new AbortController()
    const timer = setTimeout(() => mine.abort(), patience)
    more.ariaPressed = String(limit === all)
    if (!drawn) body.replaceChildren(element('p', { role: 'status' }, words.card.loading))
    try {
      const found = await loadHistory(id, limit, mine.signal)
      if (mine !== asked) return
      have = found
      show()
    } catch {
      if (mine !== asked) return
      have = drawn = null
      body.replaceChildren(failed(() => read(limit)))
    } finally {
      clearTimeout(timer)
    }
  }
  more.addEventListener('click', () => read(isAll() ? twoYears : all))
  const mark = (...now) => {
    marked = now
    if (!asked) read(twoYears)
    else if (drawn && isBefore()) read(all)
    else drawn?.mark(...now)
  }
  return { box, mark, close: () => asked?.abort() }
}

/** Says that something of a lake could not be loaded, and offers to try again. */
export const failed = (again) => element('p', { role: 'alert' }, words.card.failed, ' ',
  element('button', { type: 'button', onclick: again }, words.common.tryAgain))

const onlyNewest = (n) => element('p', {}, fill(words.card.newest, { n: number(n) }))

// table is made when it is asked for: it says what the chart shows, for who would rather read it.
function table(entries, legend) {
  const box = element('details', {}, element('summary', {}, words.card.table))
  const row = (e) => element('li', {}, inWords(e, legend))
  box.addEventListener('toggle', () => {
    box.append(element('ul', {}, ...entries.slice(-mostRows).reverse().map(row)))
    if (entries.length > mostRows) box.append(onlyNewest(mostRows))
  }, { once: true })
  return box
}
