/**
 * Error managers `continue` and `notify`: the other ranks run on. With `notify` their programs are told which ranks
 * are lost, and decide what they do. A job that has timed out, was interrupted, or whose output cannot be written ends
 * all the same.
 */

import { accept, builtinComponent } from '@stci/interface';
import type { JobAction } from '@stci/interface';
import { errmgrFramework } from './framework.js';
import { decideOnHost } from './host-policy.js';
import { isOver } from './kinds.js';

function goingOn(name: string, type: 'go-on' | 'notify', help: string) {
  return builtinComponent({
    framework: errmgrFramework,
    name,
    help,
    query: () => accept(10, 'only by name'),
    create: ({ hosts }) => ({
      policy: name,
      toleratesFailures: true,
      decide: (failure, context) => {
        if (context.of === 'session') return [decideOnHost(hosts, context)];
        const action: JobAction = { type: isOver(failure) ? 'end-job' : type };
        return [action];
      },
    }),
  });
}

export const errmgrContinue = goingOn('continue', 'go-on',
  'Ranks that are left go on; only a deadline or lost output ends the job.');

export const errmgrNotify = goingOn('notify', 'notify',
  'As continue, and the programs that are left are told of each failure and decide what they do.');
