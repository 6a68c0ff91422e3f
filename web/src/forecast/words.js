// The texts of the forecast on the map, which load with its script.
import { fetchJSON } from '../fetchjson.js'
import { wordsFile } from '../words.js'

/** The words in the language of the page. */
export const text = await fetchJSON(wordsFile('forecast-'))
