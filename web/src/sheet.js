// On a phone the list lies over the map as a sheet; until it is opened, only the row with the field is there.
import { wide } from './map.js'
import { words } from './words.js'

/**
 * Has the button open and close the sheet, and the field open it. While a lake's card is open that has the room, and
 * the sheet comes back with its end. Returns a function that closes the sheet; `opened` is called when it has opened.
 */
export function addSheet({ map, view, returnFocus }, box, field, button, opened) {
  const panel = box.parentElement
  const stage = document.getElementById('stage')
  let open = false
  const apply = () => {
    document.body.classList.toggle('find-open', open)
    // What the sheet covers cannot take the focus.
    stage.inert = open && !document.body.classList.contains('card-open')
    button.textContent = open ? words.find.toMap : words.find.toList
  }
  const set = (wanted) => {
    if (wanted === open || (wanted && wide())) return
    // The map below keeps its size and so its place.
    if (wanted) panel.parentElement.style.setProperty('--row', `${panel.offsetHeight}px`)
    open = wanted
    apply()
    if (open) opened()
    else panel.scrollTop = 0
  }
  const close = () => set(false)
  field.addEventListener('focus', () => set(true))
  button.addEventListener('click', () => set(!open))
  box.addEventListener('keydown', ({ key, target }) => {
    if (key !== 'Escape' || !open || (target === field && field.value)) return // there it empties the field
    close()
    button.focus()
  })
  map.on('dragstart', close) // who moves the map while a card is open wants the map
  view.on(['lake'], () => setTimeout(apply)) // once the card is there
  window.matchMedia('(max-width: 56rem)').addEventListener('change', close)
  apply()
  return close
}
