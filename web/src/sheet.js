// On a phone the list lies over the map as a sheet; until it is opened, only the row with the field is there.
import { wide } from './map.js'
import { words } from './words.js'

/**
 * Has the button open and close the sheet, and the field open it; `opened` is called then. While a lake's card is open
 * that has the room, and the sheet comes back with its end. Returns a function that closes the sheet.
 */
export function addSheet({ map, view }, box, field, button, opened) {
  const { classList } = document.body
  const stage = document.getElementById('stage')
  // What the sheet covers cannot take the focus.
  const uncover = () => { stage.inert = classList.contains('find-open') && !classList.contains('card-open') }
  const set = (open) => {
    if (open && wide()) return
    // The map below keeps its size, and so its place; what stands above it, on a full screen, is seen at all times.
    if (open && stage.inert !== open) {
      const main = stage.parentElement
      const top = map.getContainer().getBoundingClientRect().top - main.getBoundingClientRect().top
      main.style.setProperty('--row', `${box.parentElement.getBoundingClientRect().height}px`)
      main.style.setProperty('--top', `${top}px`)
    }
    classList.toggle('find-open', open)
    uncover()
    button.textContent = open ? words.find.toMap : words.find.toList
    if (open) opened()
  }
  const close = () => set(false)
  field.onfocus = () => set(true)
  button.onclick = () => set(!classList.contains('find-open'))
  box.onkeydown = ({ key, target }) => {
    if (key !== 'Escape' || !button.offsetWidth || target.value && target === field) return // there it empties the field
    close()
    button.focus()
  }
  document.addEventListener('fullscreenchange', close)
  map.on('dragstart', close) // who moves the map while a card is open wants the map
  view.on(['lake'], () => setTimeout(uncover)) // once the card is there
  window.matchMedia('(max-width: 56rem)').onchange = close
  close()
  return close
}
