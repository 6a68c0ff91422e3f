// Shares what is shown: a link, and the HTML of an iframe to embed it in another page.
import { byId } from './dom.js'
import { lazyScript } from './lazyscript.js'
import { showToast } from './message.js'
import { formatView, positionFields } from './view.js'
import { language, words } from './words.js'

const load = lazyScript('share')

/** Adds the button of the dialog. A map in an iframe has a link to the full page instead. @param {Page} page */
export function addShare(page) {
  const { view } = page
  if (embedded()) {
    const update = () => { byId('full-page').href = pageAddress(view.get()) }
    view.on(Object.keys(view.get()), update)
    return update()
  }
  const button = byId('share-open')
  button.hidden = false
  button.onclick = () => load().then(({ openShare }) => openShare(page)).catch(() => showToast(words.common.failed))
}

/** Reports whether this page is the map for iframes. */
export const embedded = () => document.body.matches('.embed')

/**
 * Returns the address of the full page with a view, also from within an iframe. It keeps the language if the address names one.
 * @param {ViewState} view
 */
function pageAddress(view) {
  const query = new URLSearchParams(location.search).has('lang') ? `?lang=${language}` : ''
  return new URL(`./${query}${formatView(view)}`, location.href).href
}

/** Returns the address to share. An open lake has a page of its own, of which messengers show a preview: they see no fragment. A week, a style or
 * whatever else was chosen is only in the address of the map.
 * @param {ViewState} view @param {Map<string, Lake>} lakes */
export function shareAddress(view, lakes) {
  const address = pageAddress(view)
  const chosen = Object.keys(view).some((name) => view[name] !== null && ![...positionFields, 'lake'].includes(name))
  return chosen || !lakes.has(view.lake) ? address : address.replace(/(\?[^#]*)?#.*/, `lakes/${view.lake}$1`)
}
