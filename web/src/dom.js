/**
 * An element with properties and children. Text becomes text, never markup, so nothing that the data say can become
 * part of the page's structure.
 */
export function element(tag, properties = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties)
  e.append(...children)
  return e
}

/** A dot of a colour, or the ring that stands for no data. Words always stand beside it. */
export function swatch(colour, ring = false) {
  const s = element('span', { className: ring ? 'swatch none' : 'swatch', ariaHidden: 'true' })
  s.style.setProperty('--colour', colour)
  return s
}
