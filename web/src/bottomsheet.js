// On a phone the list covers the map as a sheet. While it is closed only the search field and the nearest lakes are visible. The card of a lake is
// a sheet of three heights.
import { byId } from './dom.js'
import { isWide, narrow } from './map.js'

const stops = ['peek', 'half', 'full']
const minSwipe = 24 // px

/**
 * The button opens and closes the sheet, and the field opens it; `onChange` is called after each. The card of a lake hides the sheet
 * until it is closed.
 * @param {import('leaflet').Map} map
 * @param {HTMLElement} box
 * @param {HTMLInputElement} field
 * @param {HTMLButtonElement} button
 * @param {() => void} onChange
 */
export function addBottomSheet(map, box, field, button, onChange) {
  const { classList } = document.body
  const set = (open) => {
    if (open === classList.contains('find-open')) return
    if (open) {
      // The map under the sheet keeps its size, and so its position.
      box.closest('main').style.setProperty('--row', `${box.parentElement.getBoundingClientRect().height}px`)
    }
    classList.toggle('find-open', open)
    onChange()
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
    onChange() // on a wide screen the list is always visible
  }
}

/** Changes the height of the card's sheet: its button by one step, arrow keys and swipes of its head up or down. */
export function addStops() {
  const [panel, grip] = [byId('panel'), byId('grip')]
  let at = 1
  let from = null // where a swipe began
  let swiped = false
  const set = (i) => {
    at = Math.max(0, Math.min(i, stops.length - 1))
    panel.dataset.stop = stops[at]
  }
  grip.onclick = () => swiped || set((at + 1) % stops.length)
  grip.onkeydown = (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key]
    if (!step) return
    event.preventDefault() // the keys would also scroll the card
    set(at + step)
  }
  panel.onpointerdown = ({ target, clientY }) => {
    swiped = false
    from = target.closest('#grip, .head') && clientY
  }
  panel.onpointermove = ({ clientY }) => {
    if (from === null || Math.abs(clientY - from) < minSwipe) return
    swiped = true // no click follows
    set(at + Math.sign(from - clientY))
    from = null
  }
  onpointerup = () => { from = null }
  set(at)
}
