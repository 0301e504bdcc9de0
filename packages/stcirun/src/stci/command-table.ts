/** A program of several commands, such as `stci`: finds the command, hands it its arguments; makes the help. */

import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { argumentText, optionRows, rowText } from '../cli/option-rows.js';
import { printOut } from '../process/print.js';
import { VERSION } from '../process/version.js';
import type { StciCommandClass } from './base.js';

/** Where the descriptions of options begin. */
const TEXT_COLUMN = 26;

export interface CommandTableInit {
  /** Name of the program, as users write it. */
  readonly bin: string;
  /** What it is for, in a line or two. */
  readonly about: string;
  /** By name; names of several words are of a group. */
  readonly commands: Readonly<Record<string, StciCommandClass>>;
}

export interface Found {
  readonly name: string;
  readonly command: StciCommandClass;
  /** The words after the command's name. */
  readonly rest: readonly string[];
}

export class CommandTable {
  readonly #init: CommandTableInit;

  constructor(init: CommandTableInit) {
    this.#init = init;
  }

  get bin(): string {
    return this.#init.bin;
  }

  get about(): string {
    return this.#init.about;
  }

  get commands(): CommandTableInit['commands'] {
    return this.#init.commands;
  }

  /** The exit code. `programs`: directory of the built programs. */
  async run(argv: readonly string[], programs: string): Promise<number> {
    const { bin } = this.#init;
    const [first = 'help', ...rest] = argv;
    const asked = first === 'help' ? rest : argv;
    if (first === 'complete') return this.#complete(rest);
    const group = this.#groupHelp(asked[0]);
    if (first === '--version' || first === '-V') printOut(`${bin} ${VERSION}\n`);
    else if (isHelp(asked)) printOut(this.#overview());
    else if (group !== undefined && isHelp(asked.slice(1))) printOut(group);
    else return this.#runCommand(asked, programs, first === 'help');
    return 0;
  }

  async #complete(argv: readonly string[]): Promise<number> {
    const { completeMain } = await import('../complete/main.js');
    const { programFacts, STCI_CLIENT, STCIRUN } = await import('../complete/programs.js');
    const { bin, commands } = this.#init;
    return completeMain([STCIRUN, programFacts(bin, commands), STCI_CLIENT], argv);
  }

  async #runCommand(argv: readonly string[], programs: string, help: boolean): Promise<number> {
    const found = this.#find(argv);
    if (help || found.rest.includes('--help') || found.rest.includes('-h')) {
      printOut(this.#help(found));
      return 0;
    }
    const { bin } = this.#init;
    // oclif is given all that it would otherwise search for on disk.
    const pjson = { name: `@stci/${bin}`, version: VERSION, oclif: { bin } };
    found.command.id = found.name;
    const Command = found.command as unknown as { run(argv: string[], options: object): Promise<unknown> };
    const exitCode = await Command.run([...found.rest], { root: programs, pjson });
    return typeof exitCode === 'number' ? exitCode : 0;
  }

  /** The command with the longest name that matches. Throws STCI_USAGE with the nearest one. */
  #find(argv: readonly string[]): Found {
    const { bin, commands } = this.#init;
    for (const words of [2, 1]) {
      const name = argv.slice(0, words).join(' ');
      const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
      if (command !== undefined) return { name, command, rest: argv.slice(words) };
    }
    const names = Object.keys(commands);
    const tried = names.some((name) => name.startsWith(`${argv[0]} `)) ? argv.slice(0, 2).join(' ') : String(argv[0]);
    const hint = didYouMean(tried, names) || ` The commands are ${names.join(', ')}.`;
    throw new StciError('STCI_USAGE', `Unknown command '${bin} ${tried}'.${hint}`);
  }

  #overview(): string {
    const { bin, about } = this.#init;
    return `Usage: ${bin} COMMAND [arguments]\n\n${about}\n${this.#rows('')}`;
  }

  /** Help of the commands that begin with one word, `stci hosts`; undefined for any other word. */
  #groupHelp(word: string | undefined): string | undefined {
    const { bin, commands } = this.#init;
    const isGroup = Object.keys(commands).some((name) => name.startsWith(`${word} `));
    return isGroup ? `Usage: ${bin} ${word} COMMAND [arguments]\n${this.#rows(`${word} `)}` : undefined;
  }

  #rows(prefix: string): string {
    const { bin, commands } = this.#init;
    const own = Object.entries(commands).filter(([name]) => name.startsWith(prefix));
    const rows = own.map(([name, command]) => `  ${name.padEnd(18)}${command.summary ?? ''}\n`);
    return `\nCommands:\n${rows.join('')}\n'${bin} help COMMAND' describes one command.\n`;
  }

  #help({ name, command }: Found): string {
    const { synopsis, details } = command;
    const usage = synopsis === '' ? name : `${name} ${synopsis}`;
    const args = Object.entries(command.args ?? {})
      .map(([word, { description = '' }]) => argumentText(word, description, TEXT_COLUMN));
    const options = optionRows(command.flags).map((row) => rowText(row, TEXT_COLUMN));
    const more = [[...args, ...options].join(''), details].map((text) => text.replace(/^\n*(?=.)/u, '\n')).join('');
    return `Usage: ${this.#init.bin} ${usage}\n\n${command.summary ?? ''}\n${more}`;
  }
}

/** Nothing, or a wish for help. */
function isHelp(words: readonly string[]): boolean {
  return words.every((word) => word === '--help' || word === '-h');
}
