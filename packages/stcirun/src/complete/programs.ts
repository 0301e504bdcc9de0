/** The programs as completion sees them, from the tables that make their help. */

import { FLAG_NAMES } from '../cli/flags.js';
import { stcirunRow } from '../cli/help.js';
import { optionRows } from '../cli/option-rows.js';
import { optionNamed } from '../cli/scan.js';
import type { StciCommandClass } from '../stci/base.js';
import type { ProgramFacts } from './position.js';

export const STCIRUN: ProgramFacts = {
  name: 'stcirun',
  commands: new Map(),
  runs: { options: FLAG_NAMES.map(stcirunRow), optionOf: optionNamed },
};

export function programFacts(name: string, commands: Readonly<Record<string, StciCommandClass>>): ProgramFacts {
  return {
    name,
    commands: new Map(Object.entries(commands).map(([command, { summary = '', args = {}, flags }]) =>
      [command, { summary, args: Object.keys(args), options: optionRows(flags) }])),
  };
}
