/**
 * An element with properties and children. Text becomes text, never markup, so nothing that the data say can become
 * part of the page's structure.
 */
export function element(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties)
  e.append(...children)
  return e
}

/** The element of the page with that id. */
export const byId = (id) => document.getElementById(id)

/** The addresses of the files that the page loads by itself, by their names; of its words by their language. */
export const files = document.querySelector('script').dataset

/** An element of a drawing with attributes. */
export function svg(name, attributes) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', name)
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value)
  return e
}
