/** To come. */
export function addControls() {}
