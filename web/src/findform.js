// The form above the list: a field, the choice of risks, the order, and what is to be said of the list.
import { element } from './dom.js'
import { choices, chosen } from './filter.js'
import { wide } from './map.js'
import { orders } from './sort.js'
import { symbol } from './symbols.js'
import { number, words } from './words.js'

const text = words.find

/** Builds the form; `set` of it shows how many lakes there are of each choice, and the order that the list has. */
export function createForm({ view, legend }) {
  const button = (label, className = '') => element('button', { type: 'button', className }, label)
  const field = element('input', {
    id: 'q', type: 'search', maxLength: 200, autocomplete: 'off', spellcheck: false, enterKeyHint: 'search', placeholder: text.hint,
  })
  const toggle = button(text.toList, 'toggle')
  const all = button(text.showAll)
  const boxes = choices.map((choice) => choiceBox(choice, legend))
  const select = element('select', {}, ...Object.keys(orders).map((value) => element('option', { value }, text.orders[value])))
  const onMap = element('input', { type: 'checkbox' })
  const filtered = element('p', { className: 'filtered' }, element('span'), ' ', all)
  const go = button('', 'go')
  const note = element('p')
  const found = element('p', { role: 'status' })
  const row = element('form', { role: 'search' }, field, toggle)
  row.ariaLabel = text.heading
  const choose = (wanted) => view.set({ risk: wanted.length > 0 ? wanted.join() : null })
  for (const { input } of boxes) {
    input.addEventListener('change', () => choose(boxes.filter((b) => b.input.checked).map((b) => b.choice)))
  }
  all.addEventListener('click', () => {
    choose([])
    if (wide()) field.focus()
    else toggle.focus() // the field would open the sheet
  })
  const set = ({ counts, order, searched, from }) => {
    const wanted = chosen(view)
    for (const { choice, input, number: n } of boxes) {
      input.checked = wanted.includes(choice)
      n.textContent = number(counts[choice] ?? 0)
    }
    filtered.hidden = wanted.length === 0
    filtered.firstChild.textContent = `${text.only} ${wanted.map((c) => words.riskShort[c]).join(', ')}`
    for (const option of select.options) {
      if (option.value === 'match') option.hidden = option.disabled = !searched
      if (option.value === 'distance') option.textContent = from
    }
    select.value = order
  }
  const rows = [
    element('h2', {}, element('label', { htmlFor: 'q' }, text.heading)),
    row, filtered,
    element('div', { id: 'found' },
      go,
      element('details', { open: wide() }, // on a phone the lakes come first
        element('summary', {}, text.choices),
        element('fieldset', {}, element('legend', {}, text.risks), ...boxes.map((b) => b.label)),
        element('div', { className: 'order' }, element('label', {}, text.sorted, ' ', select), element('label', {}, onMap, ' ', text.onMap))),
      note, found),
  ]
  return { rows, row, field, toggle, select, onMap, go, note, found, set }
}

function choiceBox(choice, { classes, no_data: { color } }) {
  const input = element('input', { type: 'checkbox', value: choice })
  const n = element('span', { className: 'n' })
  const ofRisk = classes.findLast(({ risk }) => risk === choice)
  const example = ofRisk ? { chl: 1, risk: choice, color: ofRisk.color, shown: ofRisk } : { chl: null, color }
  return { choice, input, number: n, label: element('label', {}, input, symbol(example), words.riskShort[choice], ' ', n) }
}
