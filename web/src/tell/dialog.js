// The dialog with the favourite lakes, and the choice to be told of them.
import { element } from '../dom.js'
import { describeLake } from '../laketext.js'
import { symbol } from '../symbols.js'
import { fill, language, words } from '../words.js'
import { star } from './stars.js'
import { obstacle, subscribe, unsubscribe, wanted } from './subscription.js'

/**
 * Creates the dialog. `open` opens it, with the ids of a shared list if there is one.
 * @param {Page} page @param {ReturnType<import('./favourites.js').createFavourites>} favourites @param {any} text
 */
export function createDialog({ config, store, view }, favourites, text) {
  const list = element('ul')
  const status = element('p')
  status.role = 'status'
  const link = element('input', { readOnly: true })
  const offer = element('p', { className: 'offer', hidden: true })
  const form = element('form')
  const submit = element('button', { type: 'submit' })
  const close = element('button', { type: 'button', onclick: () => dialog.close() }, words.common.close)
  const heading = element('h2', { id: 'favourites-heading' }, text.heading)
  const copyRow = element('div', { className: 'copy-row' }, element('label', {}, text.link, link),
    element('button', { type: 'button', onclick: copy }, words.share.copy))
  const dialog = element('dialog', { id: 'favourites' }, heading, offer, list, copyRow, ...(config.push_key ? [form] : []), install(text), status, close)
  dialog.setAttribute('aria-labelledby', heading.id)
  document.body.append(dialog)

  async function copy() {
    link.select()
    const done = await navigator.clipboard?.writeText(link.value).then(() => true, () => false)
    status.textContent = words.share[done ? 'linkCopied' : 'selected']
  }

  const known = (id) => store.get().byId.get(id)
  const showList = () => {
    const lakes = favourites.all()
    const focused = [...list.querySelectorAll('button')].indexOf(/** @type {any} */ (document.activeElement))
    list.replaceChildren(...lakes.map((favourite) => {
      const lake = known(favourite.id)
      const open = element('button', { type: 'button', onclick() {
        dialog.close()
        view.set({ lake: favourite.id })
      } }, ...(lake ? [symbol(lake)] : []), element('span', {}, element('strong', {}, lake?.name ?? favourite.name), lake ? element('span', {}, describeLake(lake)) : ''))
      return element('li', {}, open, star(favourites, favourite.id, favourite.name, text))
    }))
    if (!lakes.length) list.replaceChildren(element('li', {}, text.none))
    copyRow.hidden = !lakes.length
    const address = new URL('./', location.href)
    address.search = `?favourites=${lakes.map(({ id }) => id).join()}`
    link.value = address.href
    submit.disabled = !lakes.length
    const buttons = list.querySelectorAll('button')
    if (focused >= 0) (buttons[Math.min(focused, buttons.length - 1)] ?? close).focus()
  }

  const showForm = () => {
    const why = obstacle()
    const state = wanted()
    const radio = (value) => element('label', {}, element('input', { type: 'radio', name: 'threshold', value, checked: value === (state?.threshold ?? 'medium') }), text.thresholds[value])
    const daily = element('input', { type: 'checkbox', name: 'daily', checked: state?.daily ?? false })
    const choices = element('fieldset', {}, element('legend', {}, text.which), ...['medium', 'high', 'closures'].map(radio), element('label', {}, daily, text.daily))
    submit.textContent = state ? text.change : text.start
    const stop = element('button', { type: 'button', onclick: () => run(async () => { await unsubscribe(); return text.stopped }) }, text.stop)
    const privacy = element('details', {}, element('summary', {}, text.privacy), element('p', {}, text.privacyText))
    form.replaceChildren(element('h3', {}, text.tell), element('p', {}, state ? text.active : text.about),
      ...(why && !state ? [element('p', { className: 'warning' }, text[why])] : [choices, element('p', { className: 'row' }, submit, ...(state ? [stop] : []))]), privacy)
  }
  form.onsubmit = (event) => {
    event.preventDefault()
    const options = { threshold: form.elements.threshold.value, daily: form.elements.daily.checked }
    run(async () => {
      await subscribe(config.push_key, favourites.all().map(({ id }) => id), options, language)
      return text.started
    })
  }
  const run = async (f) => {
    status.textContent = ''
    try {
      const done = await f()
      showForm()
      status.textContent = done
    } catch (error) {
      console.warn(error)
      showForm()
      status.textContent = obstacle() === 'denied' ? text.denied : text.failed
    }
  }

  favourites.on(() => { if (dialog.open) showList() })
  store.on(() => { if (dialog.open) showList() })
  return {
    /** @param {string[]} shared */
    open(shared = []) {
      const more = shared.filter((id) => !favourites.has(id))
      offer.hidden = !more.length
      offer.replaceChildren(fill(text.shared, { n: more.length }), ' ', element('button', { type: 'button', onclick() {
        favourites.add(more.map((id) => ({ id, name: known(id)?.name ?? id })))
        offer.hidden = true
      } }, text.add))
      status.textContent = ''
      showList()
      showForm()
      dialog.showModal()
    },
  }
}

// install returns the offer to install the page, where a browser makes one.
function install(text) {
  const button = element('button', { type: 'button', hidden: true }, text.install)
  addEventListener('beforeinstallprompt', (/** @type {any} */ event) => {
    event.preventDefault()
    button.hidden = false
    button.onclick = () => event.prompt()
  })
  addEventListener('appinstalled', () => { button.hidden = true })
  return button
}
