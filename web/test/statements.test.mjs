import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cardStatements } from '../src/card/statements.js'

const fakeElement = () => ({ append() {}, replaceChildren() {}, remove() {} })
Object.assign(document, { createElement: fakeElement })

const flush = () => new Promise((resolve) => { setImmediate(resolve) })
const [past, future] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString())
const statement = (id, end = null) => /** @type {Advisory} */ ({ id, kind: 'warning', cause: 'other', issuer: id, valid_until: end })

/** Shows a lake with the statement a and returns the number of warnings on its card, and how often it was outdated. */
async function warnings({ advisories, kept = false, date = null, times = 1 }) {
  let shown = 0
  let outdated = 0
  const article = /** @type {any} */ ({
    querySelector: (selector) => ({ append() {}, replaceChildren(...nodes) { if (selector === '[data-fact=official]') shown = nodes.length } }),
    dispatchEvent: () => outdated++,
  })
  globalThis.fetch = async () => Response.json({ advisories }, { headers: kept ? { 'X-Kept-At': past } : {} })
  const update = cardStatements(article)
  for (let i = 0; i < times; i++) {
    await update(/** @type {Lake} */ ({ id: 'x', advisory: statement('a') }), date)
    await flush()
  }
  return [shown, outdated]
}

test('the statements on a card', async () => {
  for (const [name, options, want] of /** @type {const} */ ([
    ['listed', { advisories: [statement('a'), statement('b', future)] }, [2, 0]],
    ['withdrawn since the lakes were loaded', { advisories: [], times: 3 }, [0, 1]],
    ['made after the answer was stored', { advisories: [statement('b')], kept: true }, [2, 0]],
    ['ended since the answer was stored', { advisories: [statement('a'), statement('b', past)], kept: true }, [1, 0]],
    ['of a past week', { advisories: [statement('a'), statement('b', past)], date: '2026-06-01' }, [2, 0]],
  ])) assert.deepEqual(await warnings(/** @type {any} */ (options)), want, name)
})
