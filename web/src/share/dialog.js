// The dialog that shares what is shown. It is a script of its own, which loads when it first opens.
import { byId, element } from '../dom.js'
import { pageAddress } from '../share.js'
import { round } from '../view.js'
import { language, words } from '../words.js'

/** Opens the dialog. @param {Page} page */
export function openShare({ config, map, store, view }) {
  const [dialog, code] = ['share', 'share-code'].map(byId)
  const state = dialog.querySelector('[role=status]')
  const now = view.get()
  byId('share-link').value = pageAddress(now)
  code.value = embedCode(now, map.getBounds(), store.get().byId.get(now.lake)?.name ?? words.common.title)
  code.closest('div').hidden = !config.embeddable
  byId('share-newest').hidden = !config.embeddable || !(now.date || now.forecast)
  state.textContent = ''
  dialog.addEventListener('focusin', select) // adds it once
  dialog.onclick = async ({ target: { name, value, previousElementSibling: label } }) => {
    if (name === 'close') dialog.close()
    if (name !== 'copy') return
    state.textContent = '' // screen readers announce only changes
    state.textContent = words.share[await copy(label.control) ? value : 'selected']
  }
  dialog.showModal()
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
