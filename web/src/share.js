// Sharing what is shown: its link, and the code that shows it on another page.
import { element } from './dom.js'
import { embedCode, embedded, linkToPage, pageAddress } from './embed.js'
import { words } from './words.js'

/** Adds the button that shares the view; a map in a frame has a link to the whole page instead. */
export function addShare({ config, map, status, view }) {
  const tools = document.getElementById('tools')
  if (embedded()) {
    linkToPage(tools, view)
    return
  }
  const dialog = element('dialog', { id: 'share' })
  dialog.setAttribute('aria-labelledby', 'share-heading')
  const open = () => {
    const now = view.get()
    const title = status.get().byId.get(now.lake)?.name ?? words.common.title
    const parts = [field('input', words.share.link, pageAddress(now), words.share.linkCopied)]
    if (config.embeddable) {
      parts.push(field('textarea', words.share.code, embedCode(now, map.getBounds(), title), words.share.codeCopied))
      if (now.date) parts.push(element('p', {}, words.share.newest))
    }
    dialog.replaceChildren(
      element('h2', { id: 'share-heading' }, words.share.heading),
      ...parts,
      element('p', { role: 'status' }),
      element('button', { type: 'button', onclick: () => dialog.close() }, words.common.close),
    )
    dialog.showModal()
  }
  tools.prepend(element('button', { type: 'button', id: 'share-open', onclick: open }, words.share.open))
  document.body.append(dialog)
}

// field is a text to be copied, with a button that does so and the words that tell of it.
function field(tag, name, value, copied) {
  const text = element(tag, { readOnly: true, value, onfocus: () => text.select() })
  if (tag === 'textarea') text.rows = 5
  const button = element('button', { type: 'button', ariaLabel: `${words.share.copy}: ${name}` }, words.share.copy)
  button.addEventListener('click', async () => {
    const said = button.closest('dialog').querySelector('[role=status]')
    said.textContent = '' // what is said again is heard again
    const done = await copy(text)
    said.textContent = done ? copied : words.share.selected
  })
  return element('div', { className: 'copied' }, element('label', {}, name, text), button)
}

// copy reports whether the text of a field is in the clipboard. Where it may not be put there, as on a page without
// https, it is selected for the reader to do so.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text.value)
    return true
  } catch {
    text.focus()
    text.select()
    return document.execCommand('copy')
  }
}
