/**
 * What the commands of `stci` have in common. Each is an oclif Command in a file of its own; the table in
 * commands.ts is the explicit list of them, nothing is discovered.
 */

import { Command } from '@oclif/core/command';
import { StciError } from '@stci/interface';

export abstract class StciCommand extends Command {
  /** What stands after the command's name in its usage line. */
  static readonly synopsis: string = '';
  /** Lines of the help below the summary: options and examples. */
  static readonly details: string = '';

  /** Errors are worded and coded by main-stci.ts, not by oclif. */
  protected override async catch(error: Error): Promise<void> {
    if (error instanceof StciError || !('oclif' in error)) throw error;
    const words = (error.message.split('\n', 1)[0] as string).replace(/\.?$/u, '.');
    throw new StciError('STCI_USAGE', `${words} See stci help.`);
  }
}

export type StciCommandClass = typeof StciCommand & (new (...args: never[]) => StciCommand);
