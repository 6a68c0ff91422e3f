// Legends as /api/v1/legend.json gives them, shortened.

const [green, lime, yellow, orange, red] = ['#1a9850', '#91cf60', '#fee08b', '#fc8d59', '#d73027']

/** A limit belongs to the class above it. @type {Legend} */
export const who2003 = {
  colormap: 'limno',
  profile: 'WHO 2003',
  min: 1,
  max: 100,
  classes: [
    { level: 0, risk: 'low', from: null, to: 10, color: green, colors: [green, lime] },
    { level: 1, risk: 'medium', from: 10, to: 50, color: orange, colors: [yellow, orange] },
    { level: 2, risk: 'high', from: 50, to: null, color: red, colors: [red] },
  ],
  steps: [{ from: null, color: green }, { from: 3, color: lime }, { from: 10, color: yellow }, { from: 25, color: orange }, { from: 50, color: red }],
  guidance: [
    { level: 1, chlorophyll: 10, cells: 20_000, words: 'relatively low probability of adverse health effects' },
    { level: 2, chlorophyll: 50, cells: 100_000, words: 'moderate probability of adverse health effects' },
    { level: 3, chlorophyll: null, cells: null, words: 'high probability of adverse health effects' },
  ],
}

/** A limit belongs to the class below it. @type {Legend} */
export const who2021 = {
  colormap: 'limno',
  profile: 'WHO 2021',
  min: 1,
  max: 100,
  classes: [
    { level: 0, risk: 'low', from: null, to: 12, color: green, colors: [green, lime] },
    { level: 1, risk: 'medium', from: 12, to: 24, color: orange, colors: [yellow, orange] },
    { level: 2, risk: 'high', from: 24, to: null, color: red, colors: [red] },
  ],
  steps: [{ from: null, color: green }, { from: 3, color: lime }, { from: 12.005, color: yellow }, { from: 24.005, color: red }],
}

/** @type {Legend} */
export const uba2015 = {
  ...who2003,
  guidance: undefined,
  profile: 'UBA 2015',
  classes: [
    { level: 0, risk: 'low', from: null, to: 15, color: green, colors: [green, lime] },
    { level: 1, risk: 'medium', from: 15, to: 75, color: orange, colors: [yellow, orange] },
    { level: 2, risk: 'high', from: 75, to: null, color: red, colors: [red] },
  ],
  steps: [{ from: null, color: green }, { from: 15, color: yellow }, { from: 75, color: red }],
}

/** Another colour map. @type {Legend} */
export const greys = {
  ...who2003,
  colormap: 'greys',
  classes: who2003.classes.map((c, i) => ({ ...c, color: `#${i}${i}${i}${i}${i}${i}`, colors: c.colors.map((_, j) => `#${i}${j}${i}${j}${i}${j}`) })),
  steps: ['#000000', '#010101', '#101010', '#111111', '#202020'].map((color, i) => ({ ...who2003.steps[i], color })),
}

/** The list of the two, as /api/v1/styles gives it. @type {Style[]} */
export const colormaps = [{ id: 'limno', title: 'Limno', default: true }, { id: 'greys', title: 'Greys', default: false }]
