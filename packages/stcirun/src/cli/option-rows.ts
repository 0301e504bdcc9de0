/** Options as rows: what help, reference, man pages and completion show of an option, from oclif's flags. */

import { wrapText } from '@stci/core';

/** What is shown of oclif's flags. */
export interface FlagFacts {
  readonly type: 'boolean' | 'option';
  readonly char?: string | undefined;
  readonly helpValue?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly multiple?: boolean | undefined;
  readonly options?: readonly string[] | undefined;
  /** The value that it has where none is given. */
  readonly implied?: string | undefined;
}

export interface OptionRow {
  readonly name: string;
  readonly char?: string;
  /** Placeholder of the value; undefined: the option takes none. */
  readonly value?: string;
  /** The value that it has where none is given; another is then given after `=`. */
  readonly implied?: string;
  /** All allowed values, where they are few. */
  readonly values?: readonly string[];
  readonly isRepeated: boolean;
  readonly help: string;
}

const COLUMNS_MAX = 100;

export function optionRow(name: string, flag: FlagFacts): OptionRow {
  const { type, char, helpValue = 'VALUE', description = '', multiple = false, options, implied } = flag;
  return {
    name,
    ...(char !== undefined && { char }),
    ...(type === 'option' && { value: String(helpValue) }),
    ...(implied !== undefined && { implied }),
    ...(options !== undefined && { values: options }),
    isRepeated: multiple,
    help: description,
  };
}

export function optionRows(flags: Readonly<Record<string, FlagFacts>> = {}): readonly OptionRow[] {
  return Object.entries(flags).map(([name, flag]) => optionRow(name, flag));
}

/** `-n, --np N`; `--tag[=FORMAT]` where the value may be left out. */
export function rowSyntax({ name, char, value, implied }: OptionRow): string {
  const long = implied === undefined ? `--${name}${value === undefined ? '' : ` ${value}`}` : `--${name}[=${value}]`;
  return char === undefined ? long : `-${char}, ${long}`;
}

/** Lines of the help, the descriptions from this column on; options with a letter are aligned with those without. */
export function rowText(row: OptionRow, textColumn: number): string {
  const head = `  ${row.char === undefined ? '    ' : ''}${rowSyntax(row)}`;
  return headedText(head, row.help, textColumn);
}

/** `  JOB    its name, as night.3`: an argument of a command. */
export function argumentText(name: string, help: string, textColumn: number): string {
  return headedText(`  ${name.toUpperCase()}`, help, textColumn);
}

function headedText(head: string, help: string, textColumn: number): string {
  const lines = wrapText(help, COLUMNS_MAX - textColumn);
  const indent = ' '.repeat(textColumn);
  const first = head.length < textColumn - 1 ? head.padEnd(textColumn) + lines.shift() : head;
  return [first, ...lines.map((line) => indent + line)].join('\n') + '\n';
}
