// The texts that only the search needs. They load with it.
import { fetchJSON } from '../fetchjson.js'
import { wordsFile } from '../words.js'

/** The words in the language of the page. */
export const findWords = await fetchJSON(wordsFile('find-'))
