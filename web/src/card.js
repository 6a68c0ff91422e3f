// The card of a lake: what there is to be said of it.
import { age, reference } from './age.js'
import { element } from './dom.js'
import { riskInWords, summary } from './lake.js'
import { symbol } from './symbols.js'
import { concentration, date, fill, words } from './words.js'

/** Shows the card of view.lake in its section, and closes it again. */
export function addCard(page) {
  const { view, status } = page
  const box = document.getElementById('card')
  const show = () => {
    const lake = status.get().byId.get(view.get().lake)
    box.hidden = !lake
    document.body.classList.toggle('card-open', !box.hidden)
    if (lake) box.replaceChildren(card(lake, reference(view.get().date), () => view.set({ lake: null })))
  }
  view.on(['lake'], (now) => {
    show()
    if (now.lake && !box.hidden) box.firstChild.focus()
    else page.returnFocus?.focus()
  })
  box.addEventListener('keydown', ({ key }) => { if (key === 'Escape') view.set({ lake: null }) })
  status.on(show)
  show()
}

/** It can take the focus, so that a screen reader reads it when it opens. */
function card(lake, from, close) {
  const none = lake.chl === null
  const rows = element('dl')
  const row = (name, value) => rows.append(element('dt', {}, name), element('dd', {}, value))
  if (!none) row(words.common.chlorophyll, concentration(lake.chl))
  if (lake.who_level !== null) {
    row(words.card.level, fill(words.card.levelOf, { level: lake.who_level }) + (lake.reported ? ` (${words.lake.reported})` : ''))
  }
  const when = lake.measured_at ? `${date(lake.measured_at)}, ${age(lake.measured_at, from)}` : words.common.never
  row(none ? words.card.lastMeasured : words.common.measured, when)
  if (none && lake.risk) row(words.lake.lastRisk, words.risk[lake.risk])
  row(words.card.trophic, words.card.trophicNames[lake.trophic] ?? lake.trophic)
  return element('article', { tabIndex: -1, ariaLabel: summary(lake) },
    element('button', { type: 'button', className: 'close', ariaLabel: words.common.close, onclick: close }, '×'),
    element('h2', {}, lake.name),
    element('p', { className: 'risk' }, symbol(lake), none ? words.common.noValue : riskInWords(lake)),
    element('p', {}, none ? words.card.noValueHelp : words.card.meaning[lake.shown.risk] ?? ''),
    ...(lake.reported ? [element('p', {}, lake.shown.risk === lake.risk ? words.card.reportedHelp : words.card.reportedLowerHelp)] : []),
    rows,
    element('a', { href: `api/v1/bathing-lakes/history/${encodeURIComponent(lake.id)}` }, words.card.history),
  )
}
