// The texts of notifications: each kind in English and German. None reads as an all-clear where there is none.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { notificationText } from '../src/pushtext.js'

const lake = { id: 'a', name: 'Größer See', kind: 'class_up', before: 0, after: 2, chl: 61, measured_at: '2026-07-05T10:30:00Z', measured_by: 'satellite' }
const statement = { id: 's', kind: 'closure', issuer: 'Amt für Gewässer', valid_until: '2026-08-01T00:00:00Z' }
const file = (path) => JSON.parse(readFileSync(new URL(`../src/${path}.json`, import.meta.url), 'utf8'))
const wordsIn = (language) => ({ ...file(`push/words/${language}`), verdict: file(`words/${language}`).verdict })
const now = Date.parse('2026-07-08T12:00:00Z')
const of = (change, language) => notificationText({ lakes: [{ ...lake, ...change }] }, language, wordsIn(language), 12, now)

test('a notification says what happened, the value, its day and its source', () => {
  assert.deepEqual(of({}, 'en'), {
    title: 'Größer See', body: 'Do not swim. Risk rose from low to high. 61\u00a0µg/l chlorophyll-a, measured on 5 July, satellite.', tag: 'lake a', lake: 'a', silent: false,
  })
  assert.deepEqual(of({ measured_by: 'in_situ' }, 'de'), {
    title: 'Größer See', body: 'Nicht baden. Risiko gestiegen: gering → hoch. 61\u00a0µg/l Chlorophyll-a, gemessen am 5. Juli, Wasserprobe.', tag: 'lake a', lake: 'a', silent: false,
  })
})

test('a notification has the dates and numbers of its language', () => {
  for (const [language, body] of [
    ['fr', 'Ne vous baignez pas. Risque en hausse\u00a0: faible → élevé. 61\u00a0µg/l de chlorophylle a, mesurés le 5 juillet, par satellite.'],
    ['pl', 'Nie kąp się. Ryzyko wzrosło: niskie → wysokie. 61\u00a0µg/l chlorofilu a, pomiar z 5 lipca, satelita.'],
    ['cs', 'Nekoupejte se. Riziko vzrostlo: nízké → vysoké. 61\u00a0µg/l chlorofylu a, měřeno 5. července, družice.'],
    ['da', 'Bad ikke. Risikoen er steget: lav → høj. 61\u00a0µg/l klorofyl a, målt 5. juli, satellit.'],
    ['nl', 'Niet zwemmen. Risico gestegen: laag → hoog. 61\u00a0µg/l chlorofyl-a, gemeten op 5 juli, satelliet.'],
  ]) assert.equal(of({}, language).body, body)
})

test('each kind of change has a text in English and German', () => {
  const gone = { kind: 'became_stale', before: 2, after: null, chl: null }
  /** @type {[any, string, string][]} */
  const texts = [
    [{ kind: 'class_down', before: 2, after: 0, chl: 5 }, 'Swimming looks fine. Risk fell from high to low. 5\u00a0µg/l', 'Baden scheint in Ordnung. Risiko gefallen: hoch → gering. 5\u00a0µg/l'],
    [{ kind: 'class_down', before: 1, after: 0, chl: 9.96 }, 'Swimming looks fine. Risk fell from medium to low. 9.96\u00a0µg/l', 'Baden scheint in Ordnung. Risiko gefallen: mittel → gering. 9,96\u00a0µg/l'],
    [{ kind: 'became_current', before: null, after: 1, chl: 12 }, 'Swim with care, small children should not. There is a value again: medium risk. 12\u00a0µg/l', 'Vorsichtig baden, kleine Kinder nicht. Es gibt wieder einen Wert: Risiko mittel. 12\u00a0µg/l'],
    [gone, 'No current value: look before you swim. There is no current value any more. Last known risk: high. This is not an all-clear. Last measured on 5 July, satellite.',
      'Kein aktueller Wert: vor dem Baden hinsehen. Es gibt keinen aktuellen Wert mehr. Letztes bekanntes Risiko: hoch. Das ist keine Entwarnung. Zuletzt gemessen am 5. Juli, Satellit.'],
    [{ kind: 'advisory_issued', advisory: statement }, 'Closed: do not swim. Bathing is forbidden. Amt für Gewässer, until 31 July.', 'Gesperrt: nicht baden. Baden verboten. Amt für Gewässer, bis 31. Juli.'],
    [{ kind: 'advisory_changed', advisory: { ...statement, kind: 'warning', valid_until: null } }, 'Official warning: do not swim. Bathing is discouraged (changed). Amt für Gewässer.', 'Amtliche Warnung: nicht baden. Vom Baden wird abgeraten (geändert). Amt für Gewässer.'],
    [{ kind: 'advisory_withdrawn', advisory: statement }, 'No longer in force: “Bathing is forbidden”. Amt für Gewässer.', 'Gilt nicht mehr: „Baden verboten“. Amt für Gewässer.'],
    [{ kind: 'advisory_expired', advisory: statement }, 'No longer in force, its time is over: “Bathing is forbidden”.', 'Gilt nicht mehr, die Frist ist um: „Baden verboten“.'],
  ]
  for (const [change, en, de] of texts) {
    assert.ok(of(change, 'en').body.startsWith(en), of(change, 'en').body)
    assert.ok(of(change, 'de').body.startsWith(de), of(change, 'de').body)
  }
})

test('a closure stands before other news, and each statement has a notification of its own', () => {
  const closure = { ...statement, id: 'c' }
  assert.equal(of({ kind: 'class_down', before: 2, after: 0, chl: 5, closure }, 'en').body, 'Closed: do not swim. Bathing is forbidden (Amt für Gewässer). Risk fell from high to low. 5\u00a0µg/l chlorophyll-a, measured on 5 July, satellite.')
  assert.equal(of({ kind: 'advisory_withdrawn', advisory: { ...statement, kind: 'warning' }, closure }, 'de').body, 'Gesperrt: nicht baden. Baden verboten (Amt für Gewässer). Gilt nicht mehr: „Vom Baden wird abgeraten“. Amt für Gewässer.')
  assert.equal(of({ kind: 'advisory_issued', advisory: closure }, 'en').tag, 'statement c')
  assert.equal(of({ kind: 'advisory_changed', advisory: { ...statement, kind: 'info', valid_until: null } }, 'en').body, 'Information only, no warning (changed). Amt für Gewässer.')
})

test('without its source a measurement has its day only', () => {
  assert.equal(of({ measured_by: undefined }, 'en').body, 'Do not swim. Risk rose from low to high. 61\u00a0µg/l chlorophyll-a, measured on 5 July.')
})

test('at night only closures make a sound', () => {
  const at = (change, hour) => notificationText({ lakes: [{ ...lake, ...change }] }, 'en', wordsIn('en'), hour).silent
  for (const [hour, silent] of [[6, true], [7, false], [21, false], [22, true]]) {
    assert.equal(at({}, hour), silent)
    assert.equal(at({ kind: 'advisory_withdrawn', advisory: statement }, hour), silent)
    assert.equal(at({ kind: 'advisory_issued', advisory: statement }, hour), false)
  }
})

test('a summary has a line for each lake', () => {
  const message = { lakes: [lake, { ...lake, id: 'b', name: 'Westsee', kind: 'became_stale', before: 1, after: null, chl: null }], more: 3, daily: true }
  const { title, body, tag, lake: opens } = notificationText(message, 'en', wordsIn('en'), 12, now)
  assert.equal(title, 'Changes at your lakes')
  assert.deepEqual(body.split('\n'), ['Größer See: Do not swim. Risk rose from low to high.',
    'Westsee: No current value: look before you swim. There is no current value any more. Last known risk: medium. This is not an all-clear.', '… and 3 more'])
  assert.deepEqual([tag, opens], ['summary', ''])
})

test('a notification never says that the water is fine under a warning or by an old value', () => {
  const fell = { kind: 'class_down', before: 2, after: 0, chl: 5 }
  /** @type {[any, string][]} */
  const verdicts = [[{ warned: true }, 'Official warning: do not swim.'], [{ measured_at: '2026-06-20T10:00:00Z' }, 'Old value: look before you swim.'], [{ closure: statement }, 'Closed: do not swim.']]
  for (const [change, begins] of verdicts) {
    assert.ok(of({ ...fell, ...change }, 'en').body.startsWith(begins), of({ ...fell, ...change }, 'en').body)
  }
  assert.ok(of({ measured_at: '2026-06-20T10:00:00Z' }, 'en').body.startsWith('Old value, high: do not swim'))
  assert.ok(of({ kind: 'advisory_withdrawn', advisory: statement, warned: true }, 'en').body.startsWith('Official warning: do not swim. No longer'))
})
