// Copying, also where the browser denies it: then the text stands there, selected.
import { element } from './dom.js'
import { words } from './words.js'

/** A button that copies what `text` gives, and says so. */
export function copyButton(name, text) {
  const said = element('span', { role: 'status' })
  const copy = async () => {
    const what = text()
    try {
      await navigator.clipboard.writeText(what) // there is no clipboard by plain http
      said.textContent = words.card.copied
    } catch {
      const field = element('input', { value: what, readOnly: true, ariaLabel: name })
      said.replaceChildren(field)
      field.select()
    }
  }
  return element('p', { className: 'row' }, element('button', { type: 'button', onclick: copy }, name), said)
}
