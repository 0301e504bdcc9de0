/** The agents of a session that stays, as its process uses them: its hosts, and a front-end agent for each job. */

import { StciError, fromErrorRecord, type ErrorRecord, type JobEvent } from '@stci/interface';
import { ResidentSession, type FrontEndInit } from '../agent/local-session.js';
import type { SessionBackend } from './service.js';

export interface BackendParams {
  readonly init: FrontEndInit;
  /** What the starter shows while hosts come up. */
  readonly onStep: (text: string, isError: boolean) => void;
  readonly onReady: (up: number) => void;
  readonly onAborted: (error: StciError) => void;
}

export function openBackend({ init, onStep, onReady, onAborted }: BackendParams): SessionBackend {
  let lastFailure: ErrorRecord | undefined;
  const session: ResidentSession = new ResidentSession(init, {
    onEvent: (event) => {
      if (event.type === 'failure') lastFailure = event.error;
      const step = stepOf(event, lastFailure);
      if (step !== undefined) onStep(step, event.type === 'failure');
    },
    onReady: () => onReady(session.hosts.filter(({ state }) => state === 'up').length),
    onAborted: (failures) => {
      const [first, ...more] = failures.map(({ error }) => error);
      const none = new StciError('STCI_LAUNCH_FAILED', 'No host came up.');
      const error = first === undefined ? none : fromErrorRecord(first);
      const text = [error.message, ...new Set(more.map(({ message }) => `also: ${message}`))].join('\n');
      onAborted(new StciError(error.code, text));
    },
  });
  const onStopped: (() => void)[] = [];
  let state: 'running' | 'stopping' | 'stopped' = 'running';
  return {
    hosts: () => session.hosts,
    continues: session.continues,
    spares: () => session.spares,
    openFrontEnd: (events) => session.openFrontEnd(events),
    stop: (done) => {
      if (state === 'stopped') return done();
      onStopped.push(done);
      if (state === 'stopping') return;
      state = 'stopping';
      session.stop(() => {
        state = 'stopped';
        for (const each of onStopped) each();
      });
    },
  };
}

function stepOf(event: JobEvent, failure: ErrorRecord | undefined): string | undefined {
  if (event.type !== 'recovery') return undefined;
  const why = failure === undefined ? '' : `: ${failure.message}`;
  if (event.action === 'start-again') return `the agent of host ${event.name} is started again${why}`;
  if (event.action === 'use-spare') return `spare host ${event.spare} takes the place of ${event.name}${why}`;
  return `host ${event.name} is left out${why}`;
}
