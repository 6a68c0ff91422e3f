// Declarations for sw.js.

/** The version of the page, set by build.mjs. */
declare const VERSION: string

declare const self: ServiceWorkerGlobalScope
