// On a phone the list lies over the map as a sheet; until it is opened, only the row with the field is there.
import { wide } from './map.js'

/**
 * Has the button open and close the sheet, and the field open it; `opened` is called then. While a lake's card is open
 * that has the room, and the sheet comes back with its end.
 */
export function addSheet(map, box, field, button, opened) {
  const { classList } = document.body
  const set = (open) => {
    if (open && !classList.contains('find-open')) {
      // The map below keeps its size, and so its place.
      box.closest('main').style.setProperty('--row', `${box.parentElement.getBoundingClientRect().height}px`)
    }
    classList.toggle('find-open', open)
    if (open) opened()
  }
  const close = () => set(false)
  field.onfocus = () => set(!wide())
  button.onclick = () => set(!classList.contains('find-open'))
  box.onkeydown = ({ key, target }) => {
    if (key !== 'Escape' || !button.offsetWidth || target.value && target === field) return // there it empties the field
    close()
    button.focus()
  }
  map.on('dragstart', close) // who moves the map while a card is open wants the map
  window.matchMedia('(max-width: 56rem)').onchange = () => {
    close()
    opened() // beside the map the list is always there
  }
}
