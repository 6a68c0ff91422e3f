// The page of a lake works without this script. It shows the button to print, and lets the browser keep the page: at the shore there is often no
// connection. As the map, it starts the service worker, which is urgent nowhere.
const button = document.getElementById('print')
button.hidden = false
button.onclick = () => print()

// On a page that the browser kept a value grows old, as on the server after two weeks: then it is no verdict on today.
const twoWeeks = 14 * 86_400_000
const measured = /** @type {HTMLTimeElement} */ (document.querySelector('.verdict time'))
if (!document.getElementById('kept').hidden && measured && Date.now() - Date.parse(measured.dateTime) > twoWeeks) measured.closest('.verdict').classList.add('aged')

addEventListener('load', () => {
  const { serviceWorker } = navigator // none in private windows of some browsers, and without https
  if (!serviceWorker || serviceWorker.controller) return // then it sees this page
  serviceWorker.oncontrollerchange = () => {
    const files = [.../** @type {any} */ (document.querySelectorAll('link[rel=stylesheet], script[src]'))].map((e) => e.href || e.src)
    serviceWorker.controller.postMessage([location.href.split('#')[0], ...files])
  }
  serviceWorker.register(`../sw.js${notifies() ? '?push' : ''}`).catch(() => {})
})

// notifies reports whether the map has subscribed to notifications: its service worker is another one.
function notifies() {
  try {
    return Boolean(localStorage['limnomap-notifications'])
  } catch { // denied
    return false
  }
}
