// Globals of a browser that the page's modules use when they are loaded. It runs before the tests: node --import.
import { readFile } from 'node:fs/promises'

const texts = { 'words-en.json': '../src/words/en.json', 'words-card-en.json': '../src/card/words/en.json', 'words-find-en.json': '../src/find/words/en.json' }
const links = ['en', 'de', 'fr', 'pl', 'cs', 'da', 'nl'].map((lang) => ({ lang }))

/** A stand-in for an element that no test looks at. */
const blank = () => ({ dataset: {}, children: [{}, {}], replaceChildren() {}, append() {} })

Object.defineProperties(globalThis, {
  navigator: { value: { languages: ['en-GB'], onLine: true }, configurable: true },
  location: { value: new URL('http://lakes.example/?lang=en'), configurable: true },
  document: {
    value: {
      querySelector: () => ({ dataset: { words: 'words-LANG.json' } }),
      getElementById: (id) => (id === 'languages' ? { children: links } : blank()),
    },
    configurable: true,
  },
})

globalThis.fetch = /** @type {any} */ (async (url) => new Response(await readFile(new URL(texts[url], import.meta.url))))
