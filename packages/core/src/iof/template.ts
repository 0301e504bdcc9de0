/**
 * File names for `--output`: `out/%h/%3r.%s`. `%r` rank, `%h` host, `%s` stream (`stdout`, `stderr`), `%n` number of
 * ranks, `%a` index of the program, `%p` process id, `%j` job, `%%` a percent sign. A width pads numbers with zeros
 * (`%3r` → `007`). Anything else after a percent sign is refused with its place before any program is started.
 */

import { StciError } from '@stci/interface';

export interface TemplateFacts {
  readonly rank: number;
  readonly host: string;
  readonly stream: string;
  readonly size: number;
  readonly app: number;
  readonly pid: number;
  readonly job: number;
}

const FIELDS = {
  r: 'rank',
  h: 'host',
  s: 'stream',
  n: 'size',
  a: 'app',
  p: 'pid',
  j: 'job',
} as const satisfies Record<string, keyof TemplateFacts>;

/** Widest padding; more is certainly a mistake. */
const WIDTH_MAX = 20;

interface Field {
  readonly name: keyof TemplateFacts;
  readonly width: number;
}

export interface OutputTemplate {
  readonly text: string;
  readonly parts: readonly (string | Field)[];
}

/** Throws STCI_OUTPUT_TEMPLATE. */
export function parseTemplate(text: string): OutputTemplate {
  if (text === '') throw new StciError('STCI_OUTPUT_TEMPLATE', 'The file name of --output is empty.');
  const parts: (string | Field)[] = [];
  let at = 0;
  while (at < text.length) {
    const percent = text.indexOf('%', at);
    if (percent < 0) break;
    if (percent > at) parts.push(text.slice(at, percent));
    const match = /^%(\d*)(.?)/su.exec(text.slice(percent)) as RegExpExecArray;
    parts.push(parseField(text, percent, match[1] as string, match[2] as string));
    at = percent + match[0].length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return { text, parts };
}

function parseField(text: string, percent: number, digits: string, letter: string): string | Field {
  if (letter === '%' && digits === '') return '%';
  const name = Object.hasOwn(FIELDS, letter) ? FIELDS[letter as keyof typeof FIELDS] : undefined;
  const width = digits === '' ? 0 : Number(digits);
  if (name !== undefined && width <= WIDTH_MAX) return { name, width };
  const found = `%${digits}${letter}`;
  const why = name === undefined ? `'${found}' is unknown` : `the width of '${found}' is over ${WIDTH_MAX}`;
  const pointer = `  ${text}\n  ${' '.repeat(percent)}^`;
  throw new StciError(
    'STCI_OUTPUT_TEMPLATE',
    `In the file name of --output, ${why}.\n${pointer}\n` +
      'Known: %r rank, %h host, %s stream, %n size, %a program, %p pid, %j job, %% a percent sign;\n' +
      'a width pads a number with zeros: %3r.',
  );
}

export function expandTemplate(template: OutputTemplate, facts: TemplateFacts): string {
  let name = '';
  for (const part of template.parts) {
    if (typeof part === 'string') name += part;
    else name += expandField(facts[part.name], part.width);
  }
  return name;
}

function expandField(value: string | number, width: number): string {
  if (typeof value === 'number') return String(value).padStart(width, '0');
  return pathElement(value);
}

/** `value` as an element of a path or a part of one: without slashes, and never `.` or `..`. */
function pathElement(value: string): string {
  const element = value.replaceAll(/[/\0]/g, '_');
  return /^\.{1,2}$/.test(element) ? element.replaceAll('.', '_') : element;
}
