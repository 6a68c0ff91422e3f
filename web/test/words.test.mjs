import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { count, days, fill, number, words, wordsFile } from '../src/words.js'

const web = new URL('../', import.meta.url)
const read = (path) => JSON.parse(readFileSync(new URL(path, web), 'utf8'))
const page = readFileSync(new URL('src/index.html', web), 'utf8')

/** The languages of the page, which are those of its links. */
const languages = [...page.matchAll(/<a href="\?lang=(\w+)" lang="(\w+)" hreflang="(\w+)">/g)].map(([, ...all]) => {
  assert.equal(new Set(all).size, 1, `${all}`)
  return all[0]
})

/** The folders with files of words, also those of later pages and that of the drawn legends. */
const folders = ['../render/legend/words', '', ...readdirSync(new URL('src', web), { recursive: true, encoding: 'utf8' }).map((name) => `src/${name}`), ...readdirSync(web)]
  .filter((name) => name && !/node_modules|dist/.test(name) && existsSync(new URL(`${name}/en.json`, web))).map((name) => `${name}/`)

const plurals = ['zero', 'one', 'two', 'few', 'many', 'other']
const isPlural = (group) => 'other' in group && Object.keys(group).every((name) => plurals.includes(name))

/** The texts of a group by their paths. Plural forms are one entry. */
function texts(group, path = '') {
  return Object.entries(group).flatMap(([name, value]) => {
    const at = path ? `${path}.${name}` : name
    return typeof value === 'string' || isPlural(value) ? [[at, value]] : texts(value, at)
  })
}

const endsSentence = (text) => /[.…]$/.test(text)

/** Checks a text of one language against the English one. */
function checkText(path, text, english) {
  assert.equal(placeholders(text), placeholders(english), path)
  assert.notEqual(/Point$/.test(path) ? text : text.trim(), '', path)
  assert.ok(!/\s\s|["]|\.\.\./.test(text) && (english.includes("'") || !text.includes("'")), `${path} has two spaces, or a quote or dots of a typewriter: ${text}`)
  if (!/^months|Point$/.test(path)) assert.equal(endsSentence(text), endsSentence(english), `the end of ${path}: ${text}`)
  const max = maxLengths[path] ?? maxLengths[path.replace(/\.\w+$/, '')]
  assert.ok(!(text.length > max), `${path} has ${text.length} characters, want at most ${max}, so that it fits at 320 px: ${text}`)
}

/** The most characters of texts on buttons and of those in narrow columns, also of all texts in a group. */
const maxLengths = {
  'common.title': 20, 'share.open': 12, 'share.copy': 10, 'common.close': 10, 'common.tryAgain': 20, riskShort: 14, 'riskShort.low': 7, 'riskShort.medium': 7, 'riskShort.high': 7, 'find.toList': 8, 'find.toMap': 8,
  'time.newestShort': 10, 'card.now': 36, 'card.more': 14, 'find.heading': 32, 'embed.fullPage': 24, 'chart.ahead': 12, 'marks.old': 8,
  start: 18, change: 12, stop: 10, add: 12, off: 24, show: 12,
}

const placeholders = (text) => text.match(/\{\w+\}/g)?.sort().join() ?? ''

/** The texts that other languages write as English does, and these languages. Other equal texts are not translated. */
const alike = {
  Region: 'de pl da',
  'Chlorophyll-a': 'de', Name: 'de', Version: 'de fr da', Link: 'de pl da nl', 'Offline.': 'de da nl', '● satellite': 'fr', Pages: 'fr', Stop: 'da',
  '{n} pixel': 'fr cs da nl', '{n} pixels': 'fr da nl', Week: 'nl', 'Week {n}, {days}': 'nl',
  '{km} km': 'de fr pl cs da nl', satellite: 'fr', Source: 'fr', Cause: 'fr', Notification: 'fr', 'Week {week}, {year}': 'nl',
}

test('the folders of words are found', () => {
  assert.deepEqual(languages, ['en', 'de', 'fr', 'pl', 'cs', 'da', 'nl'])
  for (const folder of ['src/words/', 'src/card/words/', 'src/forecast/words/', 'src/push/words/', 'src/tell/words/', 'src/find/words/', 'table/', 'pages/', '../render/legend/words/']) {
    assert.ok(folders.includes(folder), `${folder} is not among ${folders}`)
  }
})

for (const folder of folders) {
  const english = new Map(texts(read(`${folder}en.json`)))

  test(`${folder} has each language, and no other`, () => {
    assert.deepEqual(readdirSync(new URL(folder, web)).filter((name) => name.endsWith('.json')).sort(), languages.map((name) => `${name}.json`).sort())
  })

  for (const language of languages) {
    const own = existsSync(new URL(`${folder}${language}.json`, web)) ? new Map(texts(read(`${folder}${language}.json`))) : new Map()

    test(`${folder}${language}.json is complete`, () => {
      assert.deepEqual([...own.keys()].sort(), [...english.keys()].sort())
      const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories
      for (const [path, text] of own) {
        const source = english.get(path)
        if (typeof text === 'string') checkText(path, text, source)
        else {
          assert.deepEqual(Object.keys(text).sort(), [...forms].sort(), `plural forms of ${path}`)
          for (const [form, variant] of Object.entries(text)) checkText(`${path}.${form}`, variant, source.other)
        }
      }
    })

    if (language !== 'en') {
      test(`${folder}${language}.json has no text in English`, () => {
        const equal = [...own].flatMap(([path, text]) => (typeof text === 'string' ? [[path, text, english.get(path)]] : Object.entries(text).map(([form, variant]) => [`${path}.${form}`, variant, english.get(path)[form]])))
          .filter(([path, text, source]) => text === source && /\p{L}{2}/u.test(text.replace(/\{\w+\}/g, '')) && !path.startsWith('months'))
        assert.deepEqual(equal.filter(([, text]) => !alike[text]?.split(' ').includes(language)), [])
      })
    }
  }
}

test('each text of index.html exists', () => {
  for (const [, path] of page.matchAll(/data-(?:text|label)="([\w.]+)"/g)) {
    assert.equal(typeof path.split('.').reduce((group, name) => group?.[name], words), 'string', path)
  }
})

test('formats', () => {
  assert.equal(wordsFile(), 'words-en.json')
  assert.equal(wordsFile('card-', 'pl'), 'words-card-pl.json')
  assert.equal(fill('{n} of {n}, {x}', { n: 3, x: 'y' }), '3 of 3, y')
  assert.equal(count(words.list.found, 1), '1 lake')
  assert.equal(count(words.list.found, 1120), '1,120 lakes')
  assert.equal(number(0.123), '0.12')
  assert.match(days('2026-11-30', '2026-12-06'), /^30 Nov.–.6 Dec 2026$/u)
})
