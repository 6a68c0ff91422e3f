import js from '@eslint/js'
import globals from 'globals'

export default [
  { ignores: ['dist/'] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    languageOptions: { ecmaVersion: 2023, sourceType: 'module' },
    rules: {
      curly: ['error', 'multi-line'],
      eqeqeq: 'error',
      'no-shadow': 'error',
      'no-use-before-define': ['error', { functions: false, variables: false }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
      // Names with an underscore are private members, of Leaflet for example, which change without notice.
      'no-self-assign': ['error', { props: false }], // image.src = image.src loads the image again
      'no-restricted-syntax': ['error', { selector: 'MemberExpression[property.name=/^_/]', message: 'Use the public API.' }],
    },
  },
  { files: ['src/**', 'plain/**'], languageOptions: { globals: globals.browser } },
  { files: ['src/sw.js'], languageOptions: { globals: globals.serviceworker } },
  { files: ['*.mjs', 'test/**'], languageOptions: { globals: globals.node } },
]
