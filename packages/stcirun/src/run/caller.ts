/** Whom a run belongs to: the process of a command, or a caller of the library, of whom a process may have several. */

import type { NodePlatformOptions } from '@stci/platform-node';
import { printError } from '../process/print.js';
import { callerDirectory } from '../files/caller-directory.js';

export interface Caller {
  /** Directory of the agent's files. */
  readonly agents: string;
  /** Where relative paths begin; undefined where it was removed. */
  readonly wdir: string | undefined;
  /** What its platform has of its own. */
  readonly platform?: Pick<NodePlatformOptions, 'variables' | 'wdir' | 'writeLog'>;
  /** A line on what is done: a warning, a step. */
  say(text: string): void;
}

/** `agents`: directory of the agent's files. */
export function callerOf(agents: string, command = 'stcirun'): Caller {
  return { agents, wdir: callerDirectory(), say: (text) => printError(`${command}: ${text}\n`) };
}
