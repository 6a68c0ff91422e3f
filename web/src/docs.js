// Shows openapi.json with Swagger UI. It makes no request to other servers: no validator, no fonts.
const dark = matchMedia('(prefers-color-scheme: dark)')
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', applyScheme)
applyScheme()

const { SwaggerUIBundle } = /** @type {any} */ (window)

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false, // the query of the address must not change the configuration
  supportedSubmitMethods: ['get', 'head'],
})

/** @type {any} */
const viewer = document.querySelector('#swagger-ui')

// What Swagger UI leaves out for readers of a screen and users of a keyboard.
function complete() {
  for (const [part, name] of [['information', 'About the API'], ['schemes-server', 'Server']]) {
    for (const e of viewer.querySelectorAll(`.${part}-container:not([role])`)) Object.assign(e, { role: 'region', ariaLabel: name })
  }
  for (const select of viewer.querySelectorAll('select:not([aria-label])')) select.ariaLabel = select.id === 'servers' ? 'Server' : 'Example'
  for (const area of viewer.querySelectorAll('.microlight:not([tabindex]), .curl:not([tabindex])')) area.tabIndex = 0 // it scrolls
  for (const link of viewer.querySelectorAll('.opblock-summary-control a[href]')) link.removeAttribute('href') // within a button
  for (const heading of viewer.querySelectorAll(':is(h3, h4, h5, h6):not([aria-level])')) heading.ariaLevel = String(Number(heading.tagName[1]) - 1) // there is no h2
}
new MutationObserver(complete).observe(viewer, { childList: true, subtree: true })
