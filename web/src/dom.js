/**
 * Creates an element with properties and children. Strings become text, never markup, so that no data can change the
 * structure of the page.
 * @param {string} tag @param {object} [properties] @param {...(string | Node)} children @returns {any}
 */
export function element(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties)
  e.append(...children)
  return e
}

/** Returns the element of the page with an id. @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id)

/** Focuses an element without scrolling to it. @param {HTMLElement | null} e */
export const focusInPlace = (e) => e?.focus({ preventScroll: true })

/** The addresses of files that the page loads: words, with LANG in place of the language, the outlines, and the script of a card. */
export const files = document.querySelector('script').dataset

/** Creates an SVG element with attributes. @param {string} name @param {Record<string, any>} attributes @returns {any} */
export function svg(name, attributes) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  return e
}
