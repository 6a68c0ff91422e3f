// The page of a lake works without this script. It shows the button to print, and lets the browser keep the page: at the shore there is often no
// connection. As the map, it starts the service worker, which is urgent nowhere.
const button = document.getElementById('print')
button.hidden = false
button.onclick = () => print()

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
