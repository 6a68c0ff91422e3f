// The map on the whole screen, with all that belongs to it.
import { iconButton } from './icon.js'
import { words } from './words.js'

/** Adds the button, where the browser can show a part of a page on the whole screen. */
export function addFullScreen(page, box) {
  if (!document.fullscreenEnabled) return
  const main = document.querySelector('main')
  const stage = document.getElementById('stage')
  const button = iconButton('full', words.map.fullScreen, () => {
    if (document.fullscreenElement) return document.exitFullscreen()
    main.requestFullscreen().catch(console.warn)
  })
  box.append(button)
  // What must be said at all times (of when the values are, that they are simulated, what is wrong) comes along.
  const said = ['date', 'notice', 'message'].map((id) => document.getElementById(id))
  const home = said[0].parentElement
  main.addEventListener('fullscreenchange', () => {
    const full = document.fullscreenElement === main
    if (full) stage.prepend(...said)
    else home.append(...said)
    button.classList.toggle('leave', full)
    button.ariaLabel = button.title = full ? words.map.leaveFullScreen : words.map.fullScreen
  })
}
