// Builds the page from src into dist: scripts and styles with hashed names under dist/assets, and the outlines that stand
// in for a basemap when there is no internet. `npm run build`, or `make web` from the project's root.
import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import { minify } from 'terser'
import { outlines } from './outlines.mjs'

const mostOwn = 40_000 // bytes of the page's own script, minified; Leaflet and the service worker besides
const smallest = 1024 // bytes from which compressing saves a packet

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname)
const src = path.join(here, 'src')
const dist = path.join(here, 'dist')
const common = {
  bundle: true,
  minify: true,
  charset: 'utf8',
  write: false,
  target: 'es2022',
  legalComments: 'none', // third-party licences stand in licences.txt
}

await clean()
const outline = await writeHashed('outline.json', JSON.stringify(outlines()))
const icon = await writeHashed('icon.svg', await readFile(path.join(src, 'icon.svg')))
const leaflet = await script('leaflet.js', 'leaflet/dist/leaflet-src.esm.js')
const words = { en: await writeWords('en'), de: await writeWords('de') }
const main = await script('main.js', 'src/main.js', { plugins: [leafletAt(leaflet)] })
const style = await styles()
const manifest = await writeHashed('manifest.webmanifest', await named('manifest.webmanifest', { 'icon.svg': path.basename(icon.address) }))
const version = await writeDocuments()
const worker = await writeWorker()
const viewer = await writeViewer()
await writeLicences()
report()

async function clean() {
  await mkdir(dist, { recursive: true })
  for (const name of await readdir(dist)) {
    if (name !== '.keep') await rm(path.join(dist, name), { recursive: true })
  }
  await mkdir(path.join(dist, 'assets'))
}

// writeHashed writes a file whose name changes with its content, and returns its address.
async function writeHashed(name, content) {
  const { name: stem, ext } = path.parse(name)
  const address = `assets/${stem}-${hash(content).toUpperCase()}${ext}`
  await write(address, content)
  return { address, bytes: Buffer.byteLength(content), toJSON: () => address, toString: () => address }
}

// write writes a file, and beside what is worth it, its text compressed as hard as can be, which a server has no time for.
async function write(address, content) {
  await writeFile(path.join(dist, address), content)
  if (Buffer.byteLength(content) >= smallest) await writeFile(path.join(dist, `${address}.br`), brotliCompressSync(content))
}

// writePacked is writeHashed of what few readers ask for: it is kept compressed alone, and a server unpacks it when it must.
async function writePacked(name, content) {
  const { name: stem, ext } = path.parse(name)
  const address = `assets/${stem}-${hash(content).toUpperCase()}${ext}`
  const packed = brotliCompressSync(content)
  await writeFile(path.join(dist, `${address}.br`), packed)
  return { address, bytes: packed.length, toJSON: () => address, toString: () => address }
}

function hash(content) {
  return createHash('sha256').update(content).digest('hex').slice(0, 8)
}

// writeWords writes what the page says in a language; a reader loads one.
async function writeWords(language) {
  const words = JSON.parse(await readFile(path.join(src, `words/${language}.json`), 'utf8'))
  return writeHashed(`words-${language}.json`, JSON.stringify(words))
}

async function script(name, entry, options = {}) {
  return writeHashed(name, await bundle({ entryPoints: [entry], absWorkingDir: here, format: 'esm', ...options }))
}

// bundle makes one script of many; terser finds a few per cent that esbuild leaves.
async function bundle(options) {
  const { outputFiles } = await esbuild.build({ ...common, ...options })
  const { code } = await minify(outputFiles[0].text, {
    module: options.format === 'esm',
    ecma: 2022,
    compress: { passes: 4, unsafe_arrows: true, pure_getters: true },
  })
  return Buffer.from(code)
}

// leafletAt leaves Leaflet in a file of its own, which changes less often than ours, and is not counted with them.
function leafletAt({ address }) {
  const leave = () => ({ path: `./${path.basename(address)}`, external: true })
  return { name: 'leaflet', setup: (build) => build.onResolve({ filter: /^leaflet$/ }, leave) }
}

// styles leaves out of Leaflet's style what the page does not use: popups, markers, and the controls that are its own here.
async function styles() {
  const unused = /popup|control-(layers|zoom)|leaflet-(bar|marker|div-icon|default-icon|vml|image-layer)|lvml/
  const used = (rule, selectors, block) => {
    const left = selectors.split(',').filter((s) => !unused.test(s))
    return left.length > 0 ? `${left.join()}${block}` : ''
  }
  const lean = async ({ path: file }) => (
    { contents: (await readFile(file, 'utf8')).replace(/\/\*[^]*?\*\//g, '').replace(/([^{}]+)(\{[^{}]*\})/g, used), loader: 'css' }
  )
  const plugin = { name: 'lean', setup: (build) => build.onLoad({ filter: /leaflet\.css$/ }, lean) }
  const { outputFiles } = await esbuild.build({ ...common, entryPoints: [path.join(src, 'main.css')], outdir: dist, plugins: [plugin] })
  return writeHashed('main.css', outputFiles[0].contents)
}

// named reads a file of src, and puts the addresses of others in the place of their plain names.
async function named(file, others) {
  const text = await readFile(path.join(src, file), 'utf8')
  return Object.entries(others).reduce((t, [name, address]) => t.replaceAll(`"${name}"`, `"${address}"`), text)
}

// writeDocuments writes the page, and the page that others embed, and returns their version, which both bear. They name
// all files by their content, so that it changes with any of them.
async function writeDocuments() {
  const page = await named('index.html', {
    'leaflet.js': leaflet, 'main.js': main, 'main.css': style, 'icon.svg': icon, 'manifest.webmanifest': manifest,
    'words-en.json': words.en, 'words-de.json': words.de, 'outline.json': outline,
  })
  const { length } = page.match(/<body>/g)
  if (length !== 1) throw new Error(`index.html has ${length} bodies`)
  const embed = page
    // Without JavaScript it leads to no other document by itself: in a frame of somebody else's page only it may be shown.
    .replace(/<noscript><meta http-equiv="refresh"[^>]*><\/noscript>\s*/, '')
    .replace('<body>', '<body class="embed">')
    .replace('<title>', '<meta name="robots" content="noindex">\n  <title>')
  const is = hash(page + embed)
  await write('index.html', page.replace('VERSION', is))
  await write('embed.html', embed.replace('VERSION', is))
  return is
}

// writeWorker writes the service worker, which has to lie at the page's root, and whose bytes change with the version: by
// that browsers see that there is a new page.
async function writeWorker() {
  const define = { VERSION: JSON.stringify(version) }
  const content = await bundle({ entryPoints: [path.join(src, 'sw.js')], format: 'iife', define })
  await write('sw.js', content)
  return { bytes: content.length }
}

// writeViewer writes the page that shows openapi.json: Swagger UI as it comes, its style with a few rules of ours, and what
// starts it. No part of it is asked for by the other pages.
async function writeViewer() {
  const { outputFiles } = await esbuild.build({ ...common, entryPoints: [path.join(src, 'docs.css')], outdir: dist })
  const bundle = await readFile(path.join(here, 'node_modules/swagger-ui-dist/swagger-ui-bundle.js'), 'utf8')
  const code = await writePacked('viewer.js', bundle.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n'))
  const look = await writePacked('docs.css', outputFiles[0].contents)
  const start = await script('docs.js', 'src/docs.js')
  await write('docs.html', await named('docs.html', { 'viewer.js': code, 'docs.css': look, 'docs.js': start, 'icon.svg': icon }))
  return { bytes: code.bytes + look.bytes }
}

async function writeLicences() {
  const parts = []
  for (const name of ['leaflet', 'world-atlas']) {
    const folder = path.join(here, 'node_modules', name)
    const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'))
    parts.push(`${name} ${version}\n\n${await readFile(path.join(folder, 'LICENSE'), 'utf8')}`)
  }
  const viewer = path.join(here, 'node_modules/swagger-ui-dist')
  const { version } = JSON.parse(await readFile(path.join(viewer, 'package.json'), 'utf8'))
  const texts = await Promise.all(['NOTICE', 'LICENSE', 'swagger-ui-bundle.js.LICENSE.txt'].map((name) => readFile(path.join(viewer, name), 'utf8')))
  parts.push(`swagger-ui-dist ${version}\n\n${texts.join('\n')}`)
  parts.push('The outlines of countries are made from Natural Earth, public domain.\n')
  await write('licences.txt', parts.join('\n---\n\n'))
}

function report() {
  const said = `own script ${main.bytes} bytes, at most ${mostOwn}`
  console.log(`${said}; service worker ${worker.bytes}; Leaflet ${leaflet.bytes}; styles ${style.bytes}; outlines ${outline.bytes}; viewer, compressed, ${viewer.bytes}`)
  if (main.bytes > mostOwn) throw new Error(said)
}
