/** To come. */
export function addShare() {}
