// Shows openapi.json, which lies beside this page, with Swagger UI. Nothing is asked of anybody else: no validator, no fonts.
const dark = matchMedia('(prefers-color-scheme: dark)')
const wear = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', wear)
wear()

window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  validatorUrl: null,
  queryConfigEnabled: false, // the address bar says what is open, and no more
  supportedSubmitMethods: ['get', 'head'],
})
