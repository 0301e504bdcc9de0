/**
 * The base of the commands of `stci`. Each is an oclif Command; the table in commands.ts lists them explicitly, so
 * that no directory is searched. The commands of `finject` are made in the same way.
 */

import { Command } from '@oclif/core/command';
import * as Flags from '@oclif/core/flags';
import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { mcaOf } from '../cli/param-options.js';
import { OptionValueError, parsePair, type Pair } from '../cli/values.js';
import { watchCommand } from '../plugin/watch-command.js';
import { printError } from '../process/print.js';
import { loadSettings, type Settings } from '../settings/settings.js';

export abstract class StciCommand extends Command {
  /** The part of its usage line after the command's name. */
  static readonly synopsis: string = '';
  /** Lines of the help below the options: what else is to be known, and examples. */
  static readonly details: string = '';
  /** The page of docs/ that says more. */
  static readonly page: string = '';

  /** Messages and exit codes are made by main-stci.ts, not by oclif. */
  protected override async catch(error: Error): Promise<void> {
    // oclif has added text of its own to the message.
    if (error instanceof OptionValueError) throw new StciError('STCI_USAGE', error.text);
    if (error instanceof StciError) {
      const own = /^Parsing --\S+ \n\t(.*)\nSee more help with --help$/su.exec(error.message)?.[1];
      throw own === undefined ? error : new StciError(error.code, own);
    }
    if (!('oclif' in error)) throw error;
    const unknown = /^Nonexistent flags?: ([^\s=,]+)/u.exec(error.message)?.[1];
    if (unknown !== undefined) throw this.#unknownOption(unknown);
    const missing = /^Missing \d+ required args?:\n([^]*)$/u.exec(error.message)?.[1];
    if (missing !== undefined) throw this.#missing(missing);
    const [, option, fault] = /^Flag (--\S+) (can only be specified once|expects a value)$/mu.exec(error.message) ?? [];
    if (option !== undefined) throw this.#misused(option, fault === 'expects a value');
    const words = (error.message.split('\n', 1)[0] as string).replace(/\.?$/u, '.');
    throw new StciError('STCI_USAGE', `${words} See ${this.#help}.`);
  }

  get #help(): string {
    return `${this.config.bin} help ${this.ctor.id}`;
  }

  /** `lines`: a name and its description each. */
  #missing(lines: string): StciError {
    const names = [...lines.matchAll(/^(\w+) {2}/gmu)].map(([, name = '']) => name.toUpperCase());
    return new StciError('STCI_USAGE', `Missing: ${names.join(', ')}. See ${this.#help}.`);
  }

  #misused(option: string, isBare: boolean): StciError {
    const { helpValue = 'VALUE' } = (this.ctor.flags?.[option.slice(2)] ?? {}) as { readonly helpValue?: string };
    return new StciError('STCI_USAGE', isBare ? `${option} needs a value: ${option} ${helpValue}.`
      : `${option} is given twice. Give it once.`);
  }

  #unknownOption(option: string): StciError {
    const near = didYouMean(option, Object.keys(this.ctor.flags ?? {}).map((name) => `--${name}`));
    return new StciError('STCI_USAGE', `Unknown option ${option}.${near} See ${this.#help}.`);
  }
}

/** An option that may be given several times, with one value each. */
export const repeated = { multiple: true, multipleNonGreedy: true } as const;

/** `--mca` and `--am`, as stcirun has them. */
export const paramFlags = {
  mca: Flags.custom<Pair>({ parse: async (text) => parsePair('--mca', text) })({
    ...repeated, helpValue: 'KEY=VALUE', description: 'sets a parameter, as of stcirun; `stci info` lists them all',
  }),
  am: Flags.string({ ...repeated, helpValue: 'FILE', description: 'file of parameters, key = value a line' }),
};

/** Options that several commands have. */
export const commonFlags = {
  host: Flags.string({
    ...repeated,
    helpValue: 'LIST',
    description: 'hosts and their slots: a:2,b or n[01-16]; without any: those of the batch job, or this machine',
  }),
  hostfile: Flags.string({ ...repeated, helpValue: 'FILE', description: 'hosts of a file' }),
  exclude: Flags.string({ ...repeated, helpValue: 'LIST', description: 'hosts to leave out' }),
  json: Flags.boolean({ description: 'one JSON object' }),
  plugin: Flags.string({ ...repeated, helpValue: 'PATH', description: 'adds the components of a package' }),
  quiet: Flags.boolean({ char: 'q', description: 'print errors only' }),
};

export interface GivenParams {
  readonly mca?: readonly Pair[] | undefined;
  readonly am?: readonly string[] | undefined;
  readonly plugin?: readonly string[] | undefined;
}

/** Parameters by these flags, files and environment; prints the warnings. */
export async function loadFlagParams(
  { mca, am = [], plugin }: GivenParams, wdir: string | undefined, speaker = 'stci',
): Promise<Settings> {
  const loaded = await loadSettings({ mca: mcaOf({ mca, plugin }), am }, wdir, createNodePlatform().env.variables);
  await watchCommand(speaker, loaded.params);
  for (const warning of loaded.warnings) printError(`${speaker}: ${warning}\n`);
  return loaded;
}

export type StciCommandClass = typeof StciCommand & (new (...args: never[]) => StciCommand);
