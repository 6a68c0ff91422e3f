// Which lakes are shown: those of the risks that the reader chose, on the map as in the list.
import { markOf } from './symbols.js'

/** Returns a function that reports whether a lake is of what is chosen, as in risk=high,none. None chosen is all shown. */
export function filterOf(view) {
  const { risk } = view.get()
  const wanted = ['low', 'medium', 'high', 'none'].filter((mark) => risk?.split(',').includes(mark))
  return (lake) => !wanted[0] || wanted.includes(markOf(lake))
}

/** The lakes of the week that are shown. */
export const lakesShown = (status, view) => status.get().lakes.filter(filterOf(view))
