// The buttons that bear an icon; the style sheet has the drawings.
import { element } from './dom.js'

/** Makes a button with the icon of that name, and the label as its name and its tooltip. */
export const iconButton = (icon, label, onclick) => (
  element('button', { type: 'button', className: `icon ${icon}`, ariaLabel: label, title: label, onclick })
)
