// Globals of a browser that the page's modules use when they are loaded. It runs before the tests: node --import.
import { readFile } from 'node:fs/promises'

const words = new URL('../src/words/en.json', import.meta.url)

/** A stand-in for an element that no test looks at. */
const blank = () => ({ dataset: {}, children: [{}, {}], replaceChildren() {}, append() {} })

Object.defineProperties(globalThis, {
  navigator: { value: { language: 'en-GB', onLine: true }, configurable: true },
  location: { value: new URL('http://lakes.example/?lang=en'), configurable: true },
  document: {
    value: {
      querySelector: () => ({ dataset: { en: 'words-en.json', de: 'words-de.json' } }),
      getElementById: blank,
    },
    configurable: true,
  },
})

globalThis.fetch = async () => new Response(await readFile(words))
