// Builds the page from src into dist: bundles with hashed names under dist/assets, and the outlines that stand in for
// a basemap when there is no internet. `npm run build`, or `make web` from the project's root.
import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as esbuild from 'esbuild'
import { outlines } from './outlines.mjs'

const here = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname)
const dist = path.join(here, 'dist')
const assets = path.join(dist, 'assets')

await clean()
const outline = await writeHashed('outline', '.json', JSON.stringify(outlines()))
const result = await esbuild.build({
  entryPoints: [path.join(here, 'src/main.js'), path.join(here, 'src/main.css')],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  outdir: dist,
  entryNames: 'assets/[name]-[hash]',
  assetNames: 'assets/[name]-[hash]',
  loader: { '.png': 'file', '.svg': 'file' },
  define: { OUTLINE_URL: JSON.stringify(`assets/${outline}`) },
  legalComments: 'none', // third-party licences stand in licences.txt
  metafile: true,
})
await writePage(result.metafile)
await writeLicences()

async function clean() {
  await mkdir(dist, { recursive: true })
  for (const name of await readdir(dist)) {
    if (name !== '.keep') await rm(path.join(dist, name), { recursive: true })
  }
  await mkdir(assets)
}

async function writeHashed(name, extension, content) {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase()
  const file = `${name}-${hash}${extension}`
  await writeFile(path.join(assets, file), content)
  return file
}

async function writePage({ outputs }) {
  const named = (entry) => {
    const [file] = Object.entries(outputs).find(([, output]) => output.entryPoint?.endsWith(entry))
    return `assets/${path.basename(file)}`
  }
  const page = await readFile(path.join(here, 'src/index.html'), 'utf8')
  const built = page.replace('main.css', named('src/main.css')).replace('main.js', named('src/main.js'))
  await writeFile(path.join(dist, 'index.html'), built)
  await writeFile(path.join(dist, 'embed.html'), embedded(built))
}

// embedded makes of the page the one for frames: it is told apart by a class, and found by way of the page alone. Without
// JavaScript it leads to no other document by itself, since in a frame of somebody else's page only it may be shown.
function embedded(page) {
  const { length } = page.match(/<body>/g)
  if (length !== 1) throw new Error(`index.html has ${length} bodies`)
  return page
    .replace(/<noscript><meta http-equiv="refresh"[^>]*><\/noscript>\s*/, '')
    .replace('<title>', '<meta name="robots" content="noindex">\n  <title>')
    .replace('<body>', '<body class="embed">')
}

async function writeLicences() {
  const parts = []
  for (const name of ['leaflet', 'world-atlas']) {
    const folder = path.join(here, 'node_modules', name)
    const { version } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'))
    parts.push(`${name} ${version}\n\n${await readFile(path.join(folder, 'LICENSE'), 'utf8')}`)
  }
  parts.push('The outlines of countries are made from Natural Earth, public domain.\n')
  await writeFile(path.join(dist, 'licences.txt'), parts.join('\n---\n\n'))
}
