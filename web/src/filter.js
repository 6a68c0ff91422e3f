// Which lakes are shown: those of the risks that the reader chose, on the map as in the list.

const choices = ['high', 'medium', 'low', 'none']

/** The choice that a lake belongs to. Without a current value it is of none of the risks. */
export const choiceOf = (lake) => (lake.chl !== null && choices.includes(lake.shown.risk) ? lake.shown.risk : 'none')

/** What is chosen, as in risk=high,none in the address. None chosen is all shown. */
export const chosen = (view) => choices.filter((c) => view.get().risk?.split(',').includes(c))

/** The lakes of the week that are shown. */
export function lakesShown(status, view) {
  const wanted = chosen(view)
  return status.get().lakes.filter((lake) => !wanted[0] || wanted.includes(choiceOf(lake)))
}
