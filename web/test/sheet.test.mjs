import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wrap } from '../src/export/sheet.js'

test('lines of a text, as long as fits', () => {
  const fits = (line) => line.length <= 10
  for (const [text, want] of /** @type {[string, string[]][]} */ ([
    ['', []], ['one', ['one']], ['one two three', ['one two', 'three']], ['  one\n two ', ['one two']], ['Mecklenburgische Seen', ['Mecklenburgische', 'Seen']],
  ])) assert.deepEqual(wrap(text, fits), want, text)
})
