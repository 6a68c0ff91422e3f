// The filter by risk, for the map and the list.
import { riskClass } from './classify.js'

/** @import {Lake, View} from './types' */

/**
 * Returns a function that reports whether a lake passes the filter of the view, such as risk=high,none. An empty filter
 * passes all lakes.
 * @param {View} view
 * @returns {(lake: Lake) => boolean}
 */
export function riskFilter(view) {
  const { risk } = view.get()
  const wanted = ['low', 'medium', 'high', 'none'].filter((name) => risk?.split(',').includes(name))
  return (lake) => !wanted[0] || wanted.includes(riskClass(lake))
}
