// Declarations for sw.js and push.js.

/** The version of the page, set by build.mjs. */
declare const VERSION: string

/** The address of the script of notifications, and those of their icons, set by build.mjs. */
declare const PUSH: string
declare const ICON: string
declare const BADGE: string

declare const self: ServiceWorkerGlobalScope
