/**
 * Makes text of other programs and hosts (ssh, login scripts, agents, file names) safe to print. A terminal obeys
 * escape sequences from any source: they could hide a message, forge another, or set a title.
 */

/** Control characters except newline and tab, and the marks that reverse or reorder the text around them. */
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Returns `text` with control characters as JSON writes them, `\u001b`; newlines and tabs stay. JSON keeps its value.
 */
export function printable(text: string): string {
  return text.replaceAll(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
