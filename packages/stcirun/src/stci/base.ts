/**
 * The base of the commands of `stci`. Each is an oclif Command; the table in commands.ts lists them explicitly, so
 * that no directory is searched.
 */

import { Command } from '@oclif/core/command';
import { StciError } from '@stci/interface';
import { OptionValueError } from '../cli/values.js';

export abstract class StciCommand extends Command {
  /** The part of its usage line after the command's name. */
  static readonly synopsis: string = '';
  /** Lines of the help below the summary: options and examples. */
  static readonly details: string = '';

  /** Messages and exit codes are made by main-stci.ts, not by oclif. */
  protected override async catch(error: Error): Promise<void> {
    // oclif has added its own words to the message.
    if (error instanceof OptionValueError) throw new StciError('STCI_USAGE', error.text);
    if (error instanceof StciError || !('oclif' in error)) throw error;
    const words = (error.message.split('\n', 1)[0] as string).replace(/\.?$/u, '.');
    throw new StciError('STCI_USAGE', `${words} See stci help.`);
  }
}

export type StciCommandClass = typeof StciCommand & (new (...args: never[]) => StciCommand);
