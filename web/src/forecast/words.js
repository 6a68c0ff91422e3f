// The texts of the forecast on the map, which load with its script.
import { files } from '../dom.js'
import { fetchJSON } from '../fetchjson.js'
import { language } from '../words.js'

/** The words in the language of the page. */
export const text = await fetchJSON(files[`${language}Forecast`])
