// The dialog that shares what is shown. It is a script of its own, which loads when it first opens.
import { byId, element } from '../dom.js'
import { lazyScript } from '../lazyscript.js'
import { shareAddress } from '../share.js'
import { words } from '../words.js'
import css from './dialog.css'
import { embedCode } from './embedcode.js'

const [loadExport, loadCard] = ['export', 'card'].map(lazyScript)

/** @type {any} */
let dialog

/** Opens the dialog. @param {Page} page */
export function openShare(page) {
  const { config, map, store, view } = page
  dialog ??= createDialog()
  const code = byId('share-code')
  const state = dialog.querySelector('[role=status]')
  const now = view.get()
  byId('share-link').value = shareAddress(now, store.get().byId)
  code.value = embedCode(now, map.getBounds(), store.get().byId.get(now.lake)?.name ?? words.common.title)
  code.closest('details').hidden = !config.embeddable
  byId('share-newest').hidden = !config.embeddable || !(now.date || now.forecast)
  state.textContent = ''
  dialog.addEventListener('focusin', select) // adds it once
  dialog.onclick = async ({ target: { name, value, previousElementSibling: label } }) => {
    if (name === 'close') dialog.close()
    if (name === 'device') await share()
    if (name === 'picture') state.textContent = await savePicture(page).catch(() => words.common.failed)
    if (name !== 'copy') return
    state.textContent = '' // screen readers announce only changes
    state.textContent = words.share[await copy(label.control) ? value : 'selected']
  }
  dialog.showModal()
}

// createDialog makes the dialog. It offers to share with an app only where the device can.
function createDialog() {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  const text = words.share
  const button = (name, label, properties = {}) => element('button', { type: 'button', name, ...properties }, label)
  const row = (name, field, value) => element('div', { className: 'copy-row' },
    element('label', {}, element('span', {}, name), field), button('copy', text.copy, { value, ariaLabel: `${text.copy} ${name}` }))
  const state = element('p')
  state.role = 'status'
  const made = element('dialog', { id: 'share', ariaLabel: text.heading },
    element('h2', {}, text.heading),
    row(text.link, element('input', { id: 'share-link', readOnly: true }), 'linkCopied'),
    element('details', {}, element('summary', {}, text.sites),
      row(text.code, element('textarea', { id: 'share-code', rows: 5, readOnly: true }), 'codeCopied'),
      element('p', { id: 'share-newest' }, text.newest)),
    element('p', { className: 'actions' }, ...navigator.share ? [button('device', text.device)] : [], button('picture', text.picture)),
    state,
    button('close', words.common.close))
  document.body.append(made)
  return made
}

// savePicture saves the map, and returns a message. The script of a card has the texts.
async function savePicture(page) {
  const [{ exportMap }, { cardWords }] = await Promise.all([loadExport(), loadCard()])
  return exportMap(page, cardWords.export)
}

// share offers the apps of the device. Where that fails, it copies the link.
async function share() {
  const url = byId('share-link').value
  try {
    await navigator.share({ title: document.title, url })
  } catch (error) {
    if (error.name !== 'AbortError') dialog.querySelector('[value=linkCopied]').click() // else the user chose no app
  }
}

const select = ({ target }) => target.select?.()

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
