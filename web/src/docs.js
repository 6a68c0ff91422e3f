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
