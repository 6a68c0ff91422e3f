// Which lakes are shown: those of the risks that the reader chose, on the map as in the list.

/** What the reader can choose from; a lake without a current value is of none of the risks. */
export const choices = ['high', 'medium', 'low', 'none']

/** The choice that a lake belongs to. What has a risk that nobody knows is not to be taken for any of the others. */
export const choiceOf = (lake) => (lake.chl !== null && choices.includes(lake.shown.risk) ? lake.shown.risk : 'none')

/** The chosen ones, as in risk=medium,high in the address. None chosen is all shown. */
export const chosen = (view) => choices.filter((c) => view.get().risk?.split(',').includes(c))

/** The lakes of the week that are shown. */
export function lakesShown(status, view) {
  const { lakes } = status.get()
  const wanted = chosen(view)
  return wanted.length > 0 ? lakes.filter((lake) => wanted.includes(choiceOf(lake))) : lakes
}
