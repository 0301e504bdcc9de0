/**
 * Markup of reports. Every text that is put into a template is escaped; only what a template made is taken as it is.
 * Texts come from targets, whose output may be hostile: control characters and those that turn the direction of writing
 * are shown as U+FFFD.
 */

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Part = Markup | string | number | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;',
};

/** Everything but tab and newline below U+0020, DEL, C1, marks of direction, and halves of surrogate pairs. */
const UNFIT = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f'
  + '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\ufeff\\ufffe\\uffff]'
  + '|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]', 'g');

export function escape(text: string): string {
  return text.replace(UNFIT, '\ufffd').replace(/[&<>"']/g, (found) => ENTITIES[found] ?? '');
}

/** A template of markup. Numbers and texts are escaped, lists are joined, undefined is nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Part[]): Markup {
  let text = parts[0] ?? '';
  values.forEach((value, index) => {
    text += textOf(value) + (parts[index + 1] ?? '');
  });
  return new Markup(text);
}

export const svg = html;

function textOf(value: Part): string {
  if (value === undefined || value === null) return '';
  if (value instanceof Markup) return value.text;
  if (Array.isArray(value)) return value.map(textOf).join('');
  // A damaged record may have anything in place of a text.
  return escape(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** At most so many characters; the middle is left out. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor((max - 1) / 2);
  return `${text.slice(0, half)}…${text.slice(text.length - half)}`;
}
