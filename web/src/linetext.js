// Names of lakes are displayed next to numbers. A name may hold characters that change the order of the text around it: the server
// rejects them when it imports lakes, but a database may have older ones.

/** Returns a text without characters that open or close a part with a direction of its own, and without combining marks at its
 * start, which would change the character before it. Letters from right to left need an element of their own too: <bdi>, or unicode-bidi in the styles.
 * @param {string} text */
export const cleanText = (text) => text.replace(/[\u2028-\u202e\u2066-\u206f]|^\p{M}+/gu, '')
