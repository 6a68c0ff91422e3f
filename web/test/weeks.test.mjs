import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ageInDays, ageText, dayMs, isOld, monthName, monthTicks, referenceTime, startOfWeek, weekNumber } from '../src/calendar.js'
import { dateOf, describeWeek, indexOf, nearestIndex, normalizeDate, positions, positionsAhead } from '../src/weeks.js'
import { sharePaths } from '../src/timeline/timeline.js'

const week = (date, name = '2026-W01') => ({ week: name, date, lakes_with_data: 1, risk: { low: 1, medium: 0, high: 0 } })
const weeks = ['2026-09-07', '2026-09-14', '2026-10-05', '2026-10-12'].map((date) => week(date)) // with a gap of two weeks

test('weeks begin on Monday', () => {
  for (const [date, monday] of [['2026-11-16', '2026-11-16'], ['2026-11-22', '2026-11-16'], ['2026-11-23', '2026-11-23'], ['1969-12-29', '1969-12-29'], ['1970-01-04', '1969-12-29']]) {
    assert.equal(startOfWeek(weekNumber(date)), Date.parse(monday), date)
  }
})

test('bars are shares of the risks, the worst lowest, and few values have low bars', () => {
  const counted = (high, medium, low) => ({ week: '', date: '', lakes_with_data: high + medium + low, risk: { high, medium, low } })
  assert.deepEqual(sharePaths([counted(10, 10, 20), counted(0, 0, 80), counted(0, 20, 0)], [0, 1, 2], 80, 0.5), [
    'M-0.25 1v-0.125h0.5v0.125z', 'M-0.25 0.875v-0.125h0.5v0.125zM1.75 1v-0.25h0.5v0.25z', 'M-0.25 0.75v-0.25h0.5v0.25zM0.75 1v-1h0.5v1z'])
})

test('age in calendar days', () => {
  const noon = Date.parse('2026-11-22T12:00:00Z')
  assert.equal(ageInDays('2026-11-22T23:00:00Z', noon), 0)
  assert.equal(ageInDays('2026-11-21T23:59:00Z', noon), 1)
  assert.equal(ageInDays('2026-11-23T10:00:00Z', noon), 0, 'the future')
  assert.equal(isOld('2026-11-08T00:00:00Z', noon), false)
  assert.equal(isOld('2026-11-07T23:00:00Z', noon), true)
})

test('age in words', () => {
  const from = Date.parse('2026-11-22')
  for (const [date, want] of [['2026-11-22', 'today'], ['2026-11-21', 'yesterday'], ['2026-11-03', '19 days ago'], ['2026-10-18', '5 weeks ago'], ['2026-05-22', '6 months ago'], ['2023-11-22', '3 years ago']]) {
    assert.equal(ageText(date, from), want, date)
  }
})

test('reference time: now, or the end of a past week', () => {
  assert.ok(Math.abs(referenceTime(null) - Date.now()) < dayMs)
  assert.equal(referenceTime('2024-11-13'), Date.parse('2024-11-18') - 1)
  assert.ok(referenceTime('2999-01-01') <= Date.now(), 'never in the future')
})

test('positions have gaps for weeks without data', () => {
  const at = positions(weeks)
  assert.deepEqual(at, [0, 1, 4, 5])
  for (const [value, index] of [[0, 0], [2, 1], [3, 2], [5, 3], [99, 3]]) assert.equal(nearestIndex(at, value), index, String(value))
})

test('index and date of a week', () => {
  for (const [date, index] of /** @type {[string | null, number][]} */ ([[null, 3], ['2026-10-12', 3], ['2026-10-18', 3], ['2026-10-08', 2], ['2026-09-21', -1], ['1999-01-04', -1], ['2999-01-07', -1], ['<b>when</b>', -1]])) {
    assert.equal(indexOf(weeks, date), index, date)
  }
  assert.equal(dateOf(weeks, 2), '2026-10-05')
  assert.equal(dateOf(weeks, 3), null, 'the newest week')
})

test('the date of the view becomes the Monday of its week', () => {
  for (const [date, want, says] of [
    ['2026-09-14', '2026-09-14', ''], ['2026-10-08', '2026-10-05', ''], ['2026-10-12', null, ''], [null, null, ''],
    ['1999-01-04', null, 'There are no data for the date 1999-01-04. The newest week is shown.'],
    ['<b>when</b>', null, 'There are no data for the date <b>when</b>. The newest week is shown.'],
  ]) {
    const view = /** @type {any} */ ({ date, get: () => ({ date: view.date }), set: (patch) => Object.assign(view, patch) })
    assert.equal(normalizeDate(view, weeks), says, date)
    assert.equal(view.date, want, date)
  }
})

test('a week in words', () => {
  assert.equal(describeWeek(week('2026-11-16', '2026-W47')).replaceAll('\u2009', ''), 'Week 47, 16–22 Nov 2026')
  assert.match(describeWeek(week('2025-12-29', '2026-W01')), /^Week 1, 29 Dec 2025.–.4 Jan 2026$/u)
})

test('the axis names months, and years in January, as many as there is room for', () => {
  for (const [first, last, max, want] of /** @type {const} */ ([
    ['2026-09-07', '2026-10-12', 5, 'Oct'], ['2025-11-03', '2026-11-23', 5, '2026 Apr Jul Oct'], ['2023-11-27', '2026-11-23', 14, '2024 Apr Jul Oct 2025 Apr Jul Oct 2026 Apr Jul Oct'],
    ['2014-01-06', '2026-11-23', 5, '2015 2020 2025'], ['2026-09-07', '2026-10-12', -1, ''],
  ])) {
    assert.equal(monthTicks(Date.parse(first), Date.parse(last), max).map(([year, month]) => monthName(year, month)).join(' '), want)
  }
})

test('the days of a forecast follow the newest week', () => {
  assert.deepEqual(positionsAhead(5, ['1', '2']), [8, 11])
})
