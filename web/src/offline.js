/** To come. */
export function addOffline() {}
