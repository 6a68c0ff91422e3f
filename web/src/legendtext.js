// The limits of the classes in words.
import { fill, number, words } from './words.js'

/** @import {Legend, LegendClass} from './types' */

/**
 * Returns the limits of a class in words. If no colour step begins at the limits, as in WHO 2021, a limit belongs to the class
 * below it.
 * @param {Pick<LegendClass, 'from' | 'to'>} range
 * @param {Pick<Legend, 'classes' | 'steps'>} legend
 */
export function rangeText({ from, to }, { classes, steps }) {
  const above = steps.some((s) => s.from === classes.at(-1).from) ? '' : 'Above'
  const name = from === null ? 'first' : to === null ? 'last' : 'middle'
  return fill(words.legend[name + above], { from: number(from), to: number(to) })
}
