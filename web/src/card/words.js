// The texts that only the script of a card needs. They load with it, and not with the page.
import { fetchJSON } from '../fetchjson.js'
import { wordsFile } from '../words.js'

/** The words in the language of the page. */
export const cardWords = await fetchJSON(wordsFile('card-'))
