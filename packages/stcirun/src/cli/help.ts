/** `stcirun --help`: usage, every option by group, examples; at most 100 columns. Made from the flag table. */

import { FLAG_NAMES, FLAGS, GROUPS, OPTION_FACTS, type FlagName } from './flags.js';
import { optionRow, rowSyntax, rowText, type OptionRow } from './option-rows.js';

/** Where the descriptions begin. */
const TEXT_COLUMN = 33;

export const SYNOPSIS = 'stcirun [options] [--] program [arguments] [: [options] program [arguments]]...';

export const INTRODUCTION = `\
Runs a program as many ranks on one or more hosts, shows its output, and ends with its exit code.
Options end at the program; nothing after it is read as an option. ':' begins the next program
of the job; a program gets one as an argument by '\\:'.`;

export const EXAMPLES = `  stcirun -n 4 hostname                             four ranks on this machine
  stcirun --host a:2,b:2 --tag ./solver in.dat      two ranks on each of two hosts, lines marked
  stcirun --hostfile hosts --ppn 8 -x 'OMP_*' ./a   eight on each host of a file
  stcirun -n 1 ./master : -n 7 --wdir /tmp ./work   two programs in one job
  stcirun -n 8 --output 'out/%h/%3r.%s' ./a         a file for each rank and stream
  stcirun -n 32 --gather uname -r                   equal output shown once
  stcirun --host n[01-64] --dry-run ./a             what would run where
  stcirun --alloc='-p debug' -N 4 --ppn 8 ./a       on four hosts that Slurm gives`;

const END = `
Exit code: 0 if all ranks end with 0, else that of the rank that failed first (128 + signal if it
was killed); above 192 it is stcirun's own: see docs/exit-codes.md. More: docs/cli.md.
`;

export function helpText(): string {
  const groups = GROUPS.map((group) => {
    const names = FLAG_NAMES.filter((name) => OPTION_FACTS[name].group === group);
    return `\n${group}:\n${names.map((name) => rowText(stcirunRow(name), TEXT_COLUMN)).join('')}`;
  });
  return `Usage: ${SYNOPSIS}\n\n${INTRODUCTION}\n${groups.join('')}\nExamples:\n${EXAMPLES}\n${END}`;
}

export function stcirunRow(name: FlagName): OptionRow {
  return optionRow(name, { ...FLAGS[name], implied: OPTION_FACTS[name].implied });
}

/** `-n, --np N`. */
export function optionSyntax(name: FlagName): string {
  return rowSyntax(stcirunRow(name));
}
