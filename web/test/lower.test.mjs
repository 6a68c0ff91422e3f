import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lowerThan } from '../src/card/lower.js'

/** @param {string} id @param {string} risk @param {object} [fields] @returns {Lake} */
const lake = (id, risk, fields = {}) => /** @type {any} */ ({ id, chl: 1, display: { risk }, old: false, warned: false, closed: false, ...fields })

test('only lakes with a current value of a lower level count', () => {
  const near = [
    lake('own', 'low'), lake('medium', 'medium'), lake('old', 'low', { old: true }), lake('none', 'low', { chl: null }), lake('closed', 'low', { closed: true }),
    lake('warned', 'low', { warned: true }), lake('high', 'high'), lake('low', 'low'), lake('low2', 'low'), lake('low3', 'low'),
  ]
  const ids = (level) => lowerThan(level, 'own', near).map(({ id }) => id)
  assert.deepEqual(ids(1), ['low', 'low2', 'low3'])
  assert.deepEqual(ids(2), ['medium', 'low', 'low2'])
  assert.deepEqual(ids(0), [])
})
