// Saves the map or the chart of a lake as a PNG with title, date and source. It is a script of its own, which loads when it is first needed.
import { byId, element } from '../dom.js'
import { showToast } from '../message.js'
import { fill, words } from '../words.js'
import { mapPicture, svgImage } from './picture.js'
import { createSheet } from './sheet.js'

const chartWidth = 520 // px
const symbolSize = 22 // px
const barHeight = 12 // px

/** Saves the chart of the open card, and returns a message that says so. @param {Page} page @param {Record<string, string>} text */
export const exportChart = (page, text) => withMessage(chartSheet, page, text)

/** Saves the map, with the name of the lake whose card is open, and returns a message that says so. @param {Page} page @param {Record<string, string>} text */
export const exportMap = (page, text) => withMessage(mapSheet, page, text)

// withMessage shows the message too, which is on the map and so behind a dialog.
async function withMessage(make, page, text) {
  const message = await make(page, text).catch((error) => {
    console.warn(error)
    return text.failed
  })
  showToast(message)
  return message
}

async function chartSheet(page, text) {
  const card = byId('card')
  const chart = card.querySelector('figure svg')
  const [, , w, h] = chart.getAttribute('viewBox').split(' ').map(Number)
  const height = chartWidth * h / w
  const image = await svgImage(chart, chartWidth, height, '.cursor')
  const sheet = createSheet(chartWidth)
  addHead(sheet, [textOf(card.querySelector('h2 bdi')), textOf(card.querySelector('.region'))].filter(Boolean).join(', '))
  const fact = (name) => textOf(card.querySelector(`[data-fact=${name}]`))
  for (const name of ['past', 'official']) sheet.text(fact(name), { bold: true })
  sheet.text([fact('risk'), fact('chlorophyll')].filter(Boolean).join(', '), { bold: true })
  sheet.text(fact('age'))
  sheet.text(textOf(card.querySelector('.season')))
  sheet.space()
  sheet.text(`${words.common.chlorophyll}, µg/l`, { bold: true })
  sheet.add(height, (ctx, x, y) => ctx.drawImage(image, x, y, chartWidth, height))
  sheet.text([...card.querySelectorAll('.key span')].filter((e) => e.checkVisibility()).map(textOf).join(' · '), { size: 12, quiet: true })
  addFoot(sheet, text, page.config.attribution)
  const day = card.querySelector('[data-fact=age] time')?.dateTime ?? new Date().toISOString()
  return save(sheet, `limnomap-${page.view.get().lake}-${day.slice(0, 10)}.png`, text)
}

async function mapSheet({ map, store, view }, text) {
  const picture = await mapPicture(map)
  const sheet = createSheet(picture.width)
  const isAhead = document.body.matches('.ahead')
  const { lake } = view.get()
  addHead(sheet, lake ? document.title : words.common.title)
  sheet.text(textOf(byId(isAhead ? 'ahead-banner' : 'date')), { bold: isAhead })
  if (!isAhead) sheet.text(textOf(byId('highs')))
  if (picture.lacksTiles || !byId('missing-tiles').hidden) sheet.text(words.heatmap.missing, { bold: true })
  sheet.space()
  sheet.add(picture.height, (ctx, x, y) => picture.draw(ctx, x, y, sheet.colour))
  sheet.space()
  await addLegend(sheet, /** @type {HTMLElement} */ (document.querySelector(isAhead ? '#ahead-legend' : '#legend details')))
  if (picture.lacksBasemap) sheet.text(text.noBasemap, { size: 12, quiet: true })
  addFoot(sheet, text, textOf(map.attributionControl.getContainer()))
  const { date, newest } = store.get()
  return save(sheet, `limnomap-map-${lake ? `${lake}-` : ''}${(date || newest || new Date().toISOString()).slice(0, 10)}.png`, text)
}

const textOf = (e) => e?.textContent.replace(/\s+/g, ' ').trim() ?? ''

function addHead(sheet, title) {
  sheet.text(title, { size: 20, bold: true })
  if (!byId('notice').hidden) sheet.text(textOf(byId('notice')), { bold: true })
}

function addFoot(sheet, text, source) {
  sheet.space()
  sheet.text(words.common.limits, { size: 12, quiet: true })
  if (source) sheet.text(fill(text.source, { source }), { size: 12, quiet: true })
  sheet.text(`limnomap, ${location.origin}${location.pathname}`, { size: 12, quiet: true })
}

// isEnd reports whether a label has a line of its own.
const isEnd = (/** @type {HTMLElement} */ tick) => tick.className === 'end'

// addLegend adds the colours, the values below them and the symbols.
async function addLegend(sheet, legend) {
  const steps = [...legend.querySelectorAll('.bar span')].map((e) => getComputedStyle(e).backgroundColor)
  sheet.text(textOf(legend.querySelector('.heading, summary b')), { size: 12, bold: true })
  const wide = Math.min(sheet.width, 360)
  sheet.add(barHeight, (ctx, x, y) => steps.forEach((colour, i) => {
    ctx.fillStyle = colour
    ctx.fillRect(x + i * wide / steps.length, y, wide / steps.length + 0.5, barHeight)
  }))
  const ticks = /** @type {HTMLElement[]} */ ([...legend.querySelectorAll('.ticks span')])
  const style = getComputedStyle(document.body)
  const lines = ticks.some(isEnd) ? 2 : 1
  sheet.add(2 + 14 * lines, (ctx, x, y) => {
    Object.assign(ctx, { font: `12px ${style.fontFamily}`, fillStyle: sheet.colour('--ink'), textBaseline: 'top' })
    for (const tick of ticks) {
      const at = parseFloat(tick.style.left) / 100
      ctx.textAlign = at < 0.05 ? 'left' : at > 0.95 ? 'right' : 'center'
      ctx.fillText(textOf(tick), x + at * wide, y + (isEnd(tick) ? 16 : 2))
    }
  })
  for (const item of legend.querySelectorAll('li:not([hidden])')) {
    const image = await svgImage(item.querySelector('svg'), symbolSize, symbolSize)
    sheet.add(symbolSize, (ctx, x, y) => {
      ctx.drawImage(image, x, y, symbolSize, symbolSize)
      Object.assign(ctx, { font: `13px ${style.fontFamily}`, fillStyle: sheet.colour('--ink'), textBaseline: 'middle' })
      ctx.fillText(textOf(item), x + symbolSize + 6, y + symbolSize / 2)
    })
  }
  for (const note of legend.querySelectorAll('.profile, .opacity-hint, #ahead-legend > p')) {
    if (getComputedStyle(note).display !== 'none') sheet.text(textOf(note), { size: 12, quiet: true })
  }
}

// save downloads a sheet, and returns a message that says so.
async function save(sheet, download, text) {
  const href = URL.createObjectURL(await sheet.toPNG())
  element('a', { href, download }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
  return fill(text.done, { name: download })
}
