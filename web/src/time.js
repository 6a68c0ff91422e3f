/** To come. */
export function addTime() {}
