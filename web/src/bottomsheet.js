// On a phone the list covers the map as a bottom sheet. While it is closed only the row with the search field is visible.
import { isWide, narrow } from './map.js'

/**
 * The button opens and closes the sheet, and the field opens it; then `onOpen` is called. The card of a lake hides the sheet
 * until it is closed.
 * @param {import('leaflet').Map} map
 * @param {HTMLElement} box
 * @param {HTMLInputElement} field
 * @param {HTMLButtonElement} button
 * @param {() => void} onOpen
 */
export function addBottomSheet(map, box, field, button, onOpen) {
  const { classList } = document.body
  const set = (open) => {
    if (open && !classList.contains('find-open')) {
      // The map under the sheet keeps its size, and so its position.
      box.closest('main').style.setProperty('--row', `${box.parentElement.getBoundingClientRect().height}px`)
    }
    classList.toggle('find-open', open)
    if (open) onOpen()
  }
  const close = () => set(false)
  field.onfocus = () => set(!isWide())
  button.onclick = () => set(!classList.contains('find-open'))
  box.onkeydown = ({ key, target }) => {
    if (key !== 'Escape' || !button.offsetWidth || field.value && target === field) return // Escape first clears the field
    close()
    button.focus()
  }
  map.on('dragstart', close) // the sheet must not return over a map that the user has moved
  matchMedia(narrow).onchange = () => {
    close()
    onOpen() // on a wide screen the list is always visible
  }
}
