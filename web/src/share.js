// Sharing what is shown: its link, and the code that shows it on another page.
import { byId } from './dom.js'
import { embedCode, embedded, pageAddress } from './embed.js'
import { words } from './words.js'

/** Readies the button that shares the view; a map in a frame has a link to the whole page instead. */
export function addShare({ config, map, status, view }) {
  if (embedded()) {
    const follow = () => { byId('whole').href = pageAddress(view.get()) }
    view.on(Object.keys(view.get()), follow)
    return follow()
  }
  const [dialog, button, code] = ['share', 'share-open', 'share-code'].map(byId)
  const said = dialog.querySelector('[role=status]')
  button.hidden = false
  button.onclick = () => {
    const now = view.get()
    byId('share-link').value = pageAddress(now)
    code.value = embedCode(now, map.getBounds(), status.get().byId.get(now.lake)?.name ?? words.common.title)
    code.closest('div').hidden = !config.embeddable
    byId('share-newest').hidden = !config.embeddable || !now.date
    said.textContent = ''
    dialog.showModal()
  }
  dialog.addEventListener('focusin', ({ target }) => target.select?.())
  dialog.onclick = async ({ target: { name, value, previousElementSibling: label } }) => {
    if (name === 'close') dialog.close()
    if (name !== 'copy') return
    said.textContent = '' // what is said again is heard again
    said.textContent = words.share[await copy(label.control) ? value : 'selected']
  }
}

// copy reports whether the text of a field is in the clipboard. Where it may not be put there, as on a page without
// https, it is selected for the reader to do so.
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
