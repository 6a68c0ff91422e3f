// Types of the page's modules, for the type checker only (tsc --checkJs), which knows them in all modules. The names of fields
// follow the API.

type RiskClass = 'closed' | 'low' | 'medium' | 'high' | 'none'

/** The level, risk and colour that the symbol of a lake shows. */
interface Display { level: number, risk: string, color: string }

/** A record of the API, with the fields that classify.js adds. */
interface Lake {
  id: string
  name: string
  lat: number
  lon: number
  chl: number | null
  who_level: number | null
  level_by: 'chlorophyll' | 'cells' | 'report' | null
  cell_density_cells_ml: number | null
  cell_density_by?: 'counted' | 'index' | 'derived' | null
  risk: string | null
  color: string
  trophic: string
  measured_at: string | null
  measured_by: 'satellite' | 'in_situ' | null
  advisory: Advisory | null
  old: boolean
  /** whether it has a current value of the last seven days */
  fresh?: boolean
  closed: boolean
  warned: boolean
  worse?: '' | 'counted' | 'index' | 'report'
  display?: Display
}

/** An official statement. Only the list of a lake's statements has the text and the address. */
interface Advisory {
  id: string
  kind: string
  cause: string
  issuer: string
  valid_until: string | null
  text?: { en: string, de: string }
  url?: string
  active?: boolean
}

interface LegendClass { level: number, risk: string, from: number | null, to: number | null, color: string, colors: string[] }

interface Legend {
  colormap: string
  profile: string
  min: number
  max: number
  classes: LegendClass[]
  steps: { from: number | null, color: string }[]
  guidance?: { level: number, chlorophyll: number | null, cells: number | null, words: string }[] // WHO 2003 only
}

interface Week { week: string, date: string, lakes_with_data: number, risk?: { low: number, medium: number, high: number } }

/** An entry of a history, as parseHistory returns it. */
interface Entry {
  date: string
  time: number
  week: number
  chl: number | null
  who_level: number | null
  cell_density_cells_ml: number | null
  cell_density_by?: 'counted' | 'index' | 'derived' | null
  data_type: string
  forecast: boolean
  sample: boolean
  chl_lower?: number
  chl_upper?: number
  below_limit?: boolean
  n_valid?: number
  n_total?: number
  source?: string
  version?: string
  method?: string
  level_by?: 'cells' | 'report'
  quality?: string
  flags?: string[]
  scum_percent?: number
  turbidity_ntu?: number
  secchi_m?: number
  water_temperature_c?: number
  period_start?: string
  composite?: 'mean' | 'maximum' | 'median'
  lower?: number | null
  upper?: number | null
  probabilities?: { low: number, medium: number, high: number } | null
  issued_at?: string | null
  share_low?: number
  share_medium?: number
  share_high?: number
  pixel_m?: number
}

/** What the server knows of its own forecast of a lake. */
interface LakeForecast {
  issued_at: string
  withheld: string | null
  based_on: string
  skill: { region: string | null, weeks: { week: number, closer_percent: number | null }[] } | null
}

/** What the page shows. Null is the default of each field. */
interface ViewState {
  lat: number | null
  lon: number | null
  zoom: number | null
  date: string | null
  style: string | null
  colormap: string | null
  lake: string | null
  /** ids of the lakes that are compared with `lake`, separated by commas */
  compare: string | null
  risk: string | null
  opacity: number | null
  /** weeks ahead, 1 to 4 */
  forecast: string | null
  /** the Monday of the week that the left part of the map shows */
  beside: string | null
  /** any text: only lakes that were measured in the last seven days */
  seen: string | null
}

interface View {
  get(): ViewState
  set(patch: Partial<ViewState>): void
  on(names: string[], listener: (now: ViewState, before: ViewState) => void): void
}

/** The answer of page.json. */
interface Config {
  basemap: { url: string, labels_url: string, attribution: string } | null
  notice: string
  simulated: boolean
  attribution: string
  attribution_html?: string // an older server has none
  contact?: { name: string, url: string, logo: string } | null // the authority to ask; texts are empty if unknown
  links?: { imprint: string, privacy: string, accessibility: string } // an older server has none
  max_zoom: number
  version: string
  total_lakes?: number
  changes_at?: string | null
  as_of?: string // the day from which ages count, of an archive
  push_key?: string | null // an older server has none
  embeddable?: boolean
  forecast?: ForecastIssue | null
  places?: string | null // the address of the server's own gazetteer; an older server has none
}

/** The newest issue of the forecast. Its version is that of its tiles. */
interface ForecastIssue { issued_at: string, weeks: number, version: string }

/** A style or a colour map. */
interface Style { id: string, title: string, default?: boolean }

/** The lakes of one week. */
interface Lakes { lakes: Lake[], byId: Map<string, Lake>, date: string | null, newest?: string, complete: boolean, forecast: string | null }

interface LakeStore {
  get(): Lakes
  on(listener: (lakes: Lakes) => void): void
  load(): Promise<Lakes>
  /** Loads the lakes and says so if that fails. */
  reload(): Promise<void>
  beforeShow(prepare: (date: string | null) => Promise<() => void>): void
  prefetch(date: string | null, cache?: RequestCache): Promise<unknown>
}

/** A mark on the map, in pixels of the map's layers. Full marks have room for their full size. */
interface Mark { lake: Lake, x: number, y: number, r: number, full: boolean, hollow: boolean }

/** left, top, right, bottom */
type Box = [number, number, number, number]

/** An entry of the list of lakes. */
interface Found { lake: Lake, rank: number, distance?: number | null }

/** The search for lakes and places, a script that loads later. */
interface Search {
  /** The place that was chosen, from which distances count. */
  readonly from: { lat: number, lon: number } | null
  /** Whether the list has what was found. */
  readonly searching: boolean
  found(): Found[]
  /** What to say, with the text that says how many lakes were found, if any. */
  say(found: string | 0): string[]
  /** The name of the order by distance from the place. */
  orderText(): string | null
  input(): void
  submit(): void
  /** After a change of the lakes. */
  update(): void
}

/** What the parts of the page share. */
interface Page {
  map: import('leaflet').Map
  view: View
  store: LakeStore
  config: Config
  legend: Legend
  styles: Style[]
  colormaps: Style[]
  tileJSON: { minzoom: number, maxzoom: number, bounds: [number, number, number, number] }
  weeks: Week[]
  dateNote: string
  returnFocus: HTMLElement | null
  position: { lat: number, lon: number } | null
  refresh?(): Promise<void>
  redrawMarks?(): void
  drawTowns?(): void // with the marks
  areas?: Map<string, number> // of large lakes on a near map, in km², by id
  taken?: ReturnType<typeof import('./boxindex.js').boxIndex> // by controls, marks and labels
  printing?: boolean
  heatmap?: { prefetch(dates: (string | null)[]): void, minInterval(): number }
}

/** The text of a style sheet, for a script that loads later. */
declare module '*.css' {
  const text: string
  export default text
}
