// Shares what is shown: a link, and the HTML to embed it in another page.
import { byId } from './dom.js'
import { embedCode, embedded, pageAddress } from './embed.js'
import { words } from './words.js'

/** @import {Page} from './types' */

/**
 * Adds the button and its dialog. A map in an iframe has a link to the full page instead.
 * @param {Page} page
 */
export function addShare({ config, map, store, view }) {
  if (embedded()) {
    const update = () => { byId('full-page').href = pageAddress(view.get()) }
    view.on(Object.keys(view.get()), update)
    return update()
  }
  const [dialog, button, code] = ['share', 'share-open', 'share-code'].map(byId)
  const state = dialog.querySelector('[role=status]')
  button.hidden = false
  button.onclick = () => {
    const now = view.get()
    byId('share-link').value = pageAddress(now)
    code.value = embedCode(now, map.getBounds(), store.get().byId.get(now.lake)?.name ?? words.common.title)
    code.closest('div').hidden = !config.embeddable
    byId('share-newest').hidden = !config.embeddable || !now.date
    state.textContent = ''
    dialog.showModal()
  }
  dialog.addEventListener('focusin', ({ target }) => target.select?.())
  dialog.onclick = async ({ target: { name, value, previousElementSibling: label } }) => {
    if (name === 'close') dialog.close()
    if (name !== 'copy') return
    state.textContent = '' // screen readers announce only changes
    state.textContent = words.share[await copy(label.control) ? value : 'selected']
  }
}

// copy reports whether the text of a field is in the clipboard. Where that is denied, as on a page without https, the text is
// selected, so that the user can copy it.
async function copy(field) {
  try {
    await navigator.clipboard.writeText(field.value)
    return true
  } catch {
    field.focus()
    field.select()
    return document.execCommand('copy')
  }
}
