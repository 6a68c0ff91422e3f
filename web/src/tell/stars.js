// The stars on the card and in the list, which make a lake a favourite.
import { byId, element } from '../dom.js'
import { fill } from '../words.js'

/** Returns the star of a lake. @param {any} favourites @param {string} id @param {string} name @param {any} text */
export function star(favourites, id, name, text) {
  const b = element('button', { type: 'button', className: 'star', onclick(event) {
    event.stopPropagation() // it is within what opens the lake
    favourites.toggle(id, name)
  } })
  b.dataset.star = id
  b.ariaLabel = b.title = fill(text.star, { name })
  mark(b, favourites)
  return b
}

function mark(b, favourites) {
  const on = favourites.has(b.dataset.star)
  b.textContent = on ? '★' : '☆'
  b.ariaPressed = String(on)
}

/** Adds stars to the card and to the list, also when others are shown. @param {Page} page @param {any} favourites @param {any} text */
export function addStars({ store, view }, favourites, text) {
  const card = byId('card')
  const list = byId('find').querySelector('ul')
  const name = (id) => store.get().byId.get(id)?.name ?? id
  const addToCard = () => {
    const head = card.querySelector('.head')
    const { lake } = view.get()
    if (!lake || !head || head.querySelector('.star')) return
    head.append(star(favourites, lake, name(lake), text)) // the button to close stays the first
  }
  const addToList = () => {
    for (const li of list.children) {
      const id = /** @type {HTMLElement} */ (li.firstElementChild)?.dataset.id
      if (!id || li.querySelector('.star')) continue
      const b = star(favourites, id, name(id), text)
      b.tabIndex = -1 // by the keyboard it is on the card, so that the list has one stop a lake
      li.append(b)
    }
  }
  new MutationObserver(addToCard).observe(card, { childList: true })
  new MutationObserver(addToList).observe(list, { childList: true })
  addToCard()
  addToList()
  favourites.on(() => {
    addToList() // entries that were listed before come back as they were
    for (const b of document.querySelectorAll('.star')) mark(b, favourites)
  })
}
