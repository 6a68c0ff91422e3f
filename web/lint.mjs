// Checks the scripts of the page, of its build and of its tests. It uses the one-file build of ESLint, because the package
// eslint depends on 80 others. The type checker finds undefined names, but it knows those of node and of browsers in all folders.
import { readFileSync, readdirSync } from 'node:fs'
import js from '@eslint/js'
import { Linter } from 'eslint-linter-browserify'

const config = [js.configs.recommended, {
  linterOptions: { reportUnusedDisableDirectives: 'error' },
  rules: {
    curly: ['error', 'multi-line'],
    eqeqeq: 'error',
    'no-shadow': 'error',
    'no-undef': 'off',
    'no-use-before-define': ['error', { functions: false, variables: false }],
    'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    'no-var': 'error',
    'object-shorthand': 'error',
    'prefer-const': 'error',
    'no-self-assign': ['error', { props: false }], // image.src = image.src loads the image again
    // Names with an underscore are private members, of Leaflet for example, which change without notice.
    'no-restricted-syntax': ['error', { selector: 'MemberExpression[property.name=/^_/]', message: 'Use the public API.' }],
  },
}, {
  files: ['src/**', 'plain/**', 'lake/**'],
  rules: { 'no-restricted-globals': ['error', 'Buffer', '__dirname', '__filename', 'clearImmediate', 'global', 'module', 'process', 'require', 'setImmediate'] },
}, {
  files: ['*.mjs'],
  rules: { 'no-restricted-globals': ['error', 'document', 'innerHeight', 'innerWidth', 'localStorage', 'location', 'sessionStorage', 'window'] },
}]

const below = (folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`)
const scripts = [...readdirSync('.'), ...['src', 'plain', 'lake', 'test'].flatMap(below)].filter((name) => /\.m?js$/.test(name))
for (const filename of scripts) {
  for (const { line, column, message, ruleId } of new Linter().verify(readFileSync(filename, 'utf8'), config, { filename })) {
    console.error(`${filename}:${line}:${column}: ${message} (${ruleId})`)
    process.exitCode = 1
  }
}
