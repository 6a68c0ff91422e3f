// A sheet of text and pictures, one below the other, which becomes a PNG.

const padding = 16 // px
const lineHeight = 1.35 // of the size of the text
const maxPixels = 8000 // of a side; browsers cannot draw much larger canvases
const scale = 2 // pixels per px: sharp on paper too

/** @typedef {{height: number, draw: (ctx: CanvasRenderingContext2D, x: number, y: number) => void}} Row */

/** Creates a sheet that is as wide as its pictures, in the colours of the page. @param {number} width of the pictures in px */
export function createSheet(width) {
  const style = getComputedStyle(document.body)
  const colour = (name) => style.getPropertyValue(name)
  const measure = document.createElement('canvas').getContext('2d')
  /** @type {Row[]} */
  const rows = []
  const add = (height, draw) => { rows.push({ height, draw }) }
  return {
    width,
    colour,
    add,
    /** Adds a text, in as many lines as it needs. Nothing is added for an empty one. @param {string} text */
    text(text, { size = 14, bold = false, quiet = false } = {}) {
      const font = `${bold ? 700 : 400} ${size}px ${style.fontFamily}`
      measure.font = font
      for (const line of wrap(text, (part) => measure.measureText(part).width <= width)) {
        add(size * lineHeight, (ctx, x, y) => {
          Object.assign(ctx, { font, fillStyle: colour(quiet ? '--quiet' : '--ink'), textBaseline: 'middle' })
          ctx.fillText(line, x, y + size * lineHeight / 2)
        })
      }
    },
    space: (height = 8) => add(height, () => {}),
    /** Returns the sheet as a PNG. @returns {Promise<Blob>} */
    toPNG() {
      const height = rows.reduce((sum, row) => sum + row.height, 2 * padding)
      const factor = Math.min(scale, maxPixels / (width + 2 * padding), maxPixels / height)
      const canvas = Object.assign(document.createElement('canvas'), { width: Math.round((width + 2 * padding) * factor), height: Math.round(height * factor) })
      const ctx = canvas.getContext('2d')
      ctx.scale(factor, factor)
      ctx.fillStyle = colour('--paper')
      ctx.fillRect(0, 0, width + 2 * padding, height)
      let y = padding
      for (const row of rows) {
        ctx.save()
        row.draw(ctx, padding, y)
        ctx.restore()
        y += row.height
      }
      return new Promise((resolve, reject) => {
        canvas.toBlob((blob) => { if (blob) resolve(blob); else reject(new Error('no PNG')) }, 'image/png')
      })
    },
  }
}

/** Returns the lines of a text, each as long as fits. A word that does not fit has a line of its own.
 * @param {string} text @param {(line: string) => boolean} fits */
export function wrap(text, fits) {
  const lines = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = lines.length > 0 ? `${lines.at(-1)} ${word}` : word
    if (lines.length > 0 && fits(longer)) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
