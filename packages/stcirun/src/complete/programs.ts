/** The programs as completion sees them, from the tables that make their help. */

import { CALLS, CLIENT_OPTIONS, type CallForm, type ClientOption, type OptionForm } from '@stci/client/call-table';
import { FLAG_NAMES } from '../cli/flags.js';
import { stcirunRow } from '../cli/help.js';
import { optionRows, type FlagFacts, type OptionRow } from '../cli/option-rows.js';
import { optionNamed } from '../cli/scan.js';
import type { ProgramFacts } from './position.js';

export const STCIRUN: ProgramFacts = {
  name: 'stcirun',
  commands: new Map(),
  runs: { options: FLAG_NAMES.map(stcirunRow), optionOf: optionNamed },
};

/** What completion shows of a command, as oclif's commands have it. */
interface CommandForm {
  readonly summary?: string | undefined;
  readonly args?: object;
  readonly flags?: Readonly<Record<string, FlagFacts>>;
}

export function programFacts(name: string, commands: Readonly<Record<string, CommandForm>>): ProgramFacts {
  return {
    name,
    commands: new Map(Object.entries(commands).map(([command, { summary = '', args = {}, flags }]) =>
      [command, { summary, args: Object.keys(args), options: optionRows(flags) }])),
  };
}

/** Calls as commands. */
export const STCI_CLIENT: ProgramFacts = {
  name: 'stci-client',
  commands: new Map(Object.entries<CallForm>(CALLS).map(([name, { words, options, help }]) =>
    [name, { summary: help, args: words.map(argumentName), options: options.map(clientRow) }])),
};

function argumentName(word: string): string {
  return word.replace(/[[\]]/gu, '').toLowerCase();
}

function clientRow(name: ClientOption): OptionRow {
  const { value, values, help }: OptionForm = CLIENT_OPTIONS[name];
  return {
    name: name.slice(2), help, isRepeated: false, ...(value !== undefined && { value }),
    ...(values !== undefined && { values }),
  };
}
