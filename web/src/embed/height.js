// Tells the page around an iframe how high the map would be without scroll bars. Pages listen to the message themselves, or use
// iframe-resizer 4, whose messages are strings.
const [header, stage, time, panel, card, footer] = ['header', '#stage', '#time', '#panel', '#card', 'footer'].map((s) => /** @type {HTMLElement} */ (document.querySelector(s)))
const prefix = '[iFrameSizer]'
let frame = '' // the name of the iframe at iframe-resizer
let sent = 0

// wantedHeight depends on the width and the content only, and not on the present height of the map, so that it does not grow again and again.
function wantedHeight() {
  const map = Math.max(240, Math.min(480, stage.clientWidth * 0.75))
  const beside = getComputedStyle(stage.parentElement).flexDirection !== 'column'
  const content = panel.offsetHeight && card.offsetHeight
  return Math.ceil(header.offsetHeight + time.offsetHeight + footer.offsetHeight + (beside ? Math.max(map, content) : map + content)) + 2 // borders
}

function send(reason = 'resize') {
  const height = wantedHeight()
  document.body.classList.toggle('fits', innerHeight >= height)
  if (height === sent && reason === 'resize') return
  sent = height
  // Any page may know the height.
  parent.postMessage({ type: 'limnomap:height', height }, '*')
  if (frame) parent.postMessage(`${prefix}${frame}:${height}:${innerWidth}:${reason}`, '*')
}

if (parent !== window) {
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || typeof data !== 'string' || !data.startsWith(prefix)) return
    const settings = data.slice(prefix.length).split(':')
    if (settings.length > 9) [frame] = settings // its first message; the others are commands
    if (frame) send(settings.length > 9 ? 'init' : 'resize')
  })
  const observer = new ResizeObserver(() => send())
  for (const e of [header, stage, time, panel, card, footer]) observer.observe(e)
  parent.postMessage('[iFrameResizerChild]Ready', '*') // its first message may have come before this script
}
