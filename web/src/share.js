// Shares what is shown: a link, and the HTML of an iframe to embed it in another page.
import { byId, element } from './dom.js'
import { formatView, round } from './view.js'
import { language, words } from './words.js'

/** Adds the button and its dialog. A map in an iframe has a link to the full page instead. @param {Page} page */
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

/** Reports whether this page is the map for iframes. */
export const embedded = () => document.body.matches('.embed')

/**
 * Returns the address of the full page with a view, also from within an iframe. It keeps the language if the address names one.
 * @param {ViewState} view
 */
export function pageAddress(view) {
  const query = new URLSearchParams(location.search).has('lang') ? `?lang=${language}` : ''
  return new URL(`./${query}${formatView(view)}`, location.href).href
}

/**
 * Returns the HTML of an iframe with the lake of a view, or else with this part of the map, in the style, colours and language of
 * this page. It never contains the week: on another page it would look like the present one for years.
 * @param {ViewState} view @param {import('leaflet').LatLngBounds} bounds @param {string} title
 */
export function embedCode({ lake, style, colormap }, bounds, title) {
  const query = new URLSearchParams({ ...(lake ? { lake } : { bbox: bbox(bounds) }), ...(style && { style }), ...(colormap && { colormap }), lang: language })
  const frame = element('iframe', { title, width: 600, height: 480, loading: 'lazy', allow: 'fullscreen' })
  frame.src = new URL(`embed?${query}`, location.href).href.replaceAll('%2C', ',')
  Object.assign(frame.style, { border: 0, maxWidth: '100%' })
  return frame.outerHTML
}

/** Returns bounds as west,south,east,north. Bounds wider than the globe become the whole globe.
 * @param {Pick<import('leaflet').LatLngBounds, 'getSouthWest' | 'getNorthEast'>} bounds */
export function bbox(bounds) {
  const [southWest, northEast] = [bounds.getSouthWest(), bounds.getNorthEast()]
  const [west, east] = northEast.lng - southWest.lng < 360 ? [southWest.wrap().lng, northEast.wrap().lng] : [-180, 180]
  return [west, southWest.lat, east, northEast.lat].map((d) => round(d, 4)).join()
}
