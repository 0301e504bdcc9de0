/**
 * Error manager `restart`: a rank that failed is started again, after a pause that doubles with each start, up to a
 * number of starts; a tool's on its own host by its session agent, that of a lost host on another by the controller.
 * The n-th start comes pause × 2^(n-2) after the failure before it, at most the longest pause.
 */

import { accept, builtinComponent, param } from '@stci/interface';
import type { Failure, JobAction, RestartAction } from '@stci/interface';
import { backoffMs } from '../event/backoff.js';
import { errmgrFramework } from './framework.js';
import { decideOnHost } from './host-policy.js';
import { mayRestart } from './kinds.js';

const PAUSE_MS_MAX = 3_600_000;

export const errmgrRestart = builtinComponent({
  framework: errmgrFramework,
  name: 'restart',
  help: 'A rank that failed is started again, so many times; then the job ends.',
  params: {
    retries: param.int(3, [1, 100], 'Further starts of each rank; a failure after them is dealt with by '
      + 'errmgr.restart.then.', 'job'),
    pause: param.duration(500, [0, PAUSE_MS_MAX], 'Pause before the first further start of a rank; each further one is '
      + 'twice as long. Longer gives what failed time to recover, shorter loses less time.', 'job'),
    'pause.max': param.duration(60_000, [0, PAUSE_MS_MAX], 'The longest such pause.', 'job'),
    then: param.choice('abort', ['abort', 'continue'], 'What follows when a rank has failed after its last start, or '
      + 'cannot be started: abort ends the job, continue lets the other ranks run on.', 'job'),
  },
  query: () => accept(5, 'only by name'),
  create: ({ hosts }, params) => {
    const { retries, pause, 'pause.max': pauseMax, then } = params as Readonly<Record<string, number>>;
    const afterMs = (starts: number): number =>
      backoffMs({ firstMs: pause as number, maxMs: pauseMax as number }, starts);
    const isAllowed = (failure: Failure, starts: number): boolean =>
      mayRestart(failure) && starts <= (retries as number);
    const next = (failure: Failure, starts: number): RestartAction | undefined =>
      isAllowed(failure, starts) ? { type: 'restart', afterMs: afterMs(starts) } : undefined;
    return {
      policy: 'restart',
      toleratesFailures: params['then'] === 'continue',
      decide: (failure, context) => {
        if (context.of === 'session') return [decideOnHost(hosts, context)];
        // Of a lost host whose ranks had all ended, nothing is to be started again.
        if (context.attempt === 0 && mayRestart(failure)) return [{ type: 'go-on' }];
        const last: JobAction = { type: String(then) === 'continue' && mayRestart(failure) ? 'go-on' : 'end-job' };
        return [next(failure, context.attempt) ?? last];
      },
      local: (failure, { of, attempt }) => {
        if (!isAllowed(failure, attempt)) return { type: 'report' };
        if (of === 'tool') return { type: 'restart', afterMs: afterMs(attempt) };
        // The pause of a lost session agent's ranks runs meanwhile.
        return { type: 'restart', afterMs: attempt === 1 ? 0 : afterMs(attempt - 1) };
      },
    };
  },
});
