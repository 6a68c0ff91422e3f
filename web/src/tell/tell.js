// Favourites and notifications. It is a script of its own, which loads when the map is there.
import { byId, element } from '../dom.js'
import { showToast } from '../message.js'
import { fill, language, number, wordsFile } from '../words.js'
import { createDialog } from './dialog.js'
import { createFavourites, sharedIds } from './favourites.js'
import { addStars } from './stars.js'
import { isDue, keepLanguage, subscribe, unsubscribe, wanted } from './subscription.js'
import css from './tell.css'

const changeDelay = 2000 // ms without a change of the favourites before the server is told

let started = false

/** Adds favourites and notifications to the page. Later calls do nothing. @param {Page} page */
export async function addTell(page) {
  if (started) return
  started = true
  const text = await (await fetch(wordsFile('tell-'))).json()
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
  const key = page.config.push_key
  if (key) text.star += ` · ${text.tell}` // a star says that there are notifications
  const favourites = createFavourites()
  addStars(page, favourites, text)
  const dialog = createDialog(page, favourites, text)
  const button = element('button', { type: 'button', id: 'favourites-open', onclick: () => dialog.open() })
  const count = () => {
    const n = favourites.all().length
    button.textContent = `★ ${number(n)}`
    button.ariaLabel = button.title = fill(text.open, { n: number(n) })
  }
  favourites.on(count)
  count()
  byId('find').querySelector('fieldset').append(button)

  let timer
  const update = async () => {
    const state = wanted()
    if (!state || !key) return
    const lakes = favourites.all().map(({ id }) => id)
    try {
      if (lakes.length) await subscribe(key, lakes, state, language)
      else await unsubscribe()
    } catch {
      showToast(text.failed)
    }
  }
  favourites.on(() => {
    clearTimeout(timer)
    timer = setTimeout(update, changeDelay)
  })
  if (isDue()) update()
  else if (wanted()) keepLanguage(language).catch(() => {}) // the reader may have switched it
  const shared = sharedIds(location.search)
  if (shared.some((id) => !favourites.has(id))) dialog.open(shared)
}
