/** The agents of a session that stays, as its process uses them: its hosts, and a front-end for each job. */

import { StciError, fromErrorRecord, type ErrorRecord, type JobEvent } from '@stci/interface';
import { ResidentSession, type FrontEndInit } from '../controller/local-session.js';
import { recoveryText } from '../run/recovery-text.js';
import type { SessionBackend } from './session-jobs.js';

export interface BackendParams {
  readonly init: FrontEndInit;
  /** What is done about hosts that do not come up, or are lost. */
  readonly onStep: (text: string) => void;
  /** What happens to its hosts, and failures. */
  readonly onEvent?: ((event: JobEvent) => void) | undefined;
  readonly onReady: (up: number) => void;
  /** A host or slots are there, or not awaited any more. */
  readonly onRoom: () => void;
  readonly onAborted: (error: StciError) => void;
  /** A batch system takes the hosts. */
  readonly onEnding: (error: StciError) => void;
}

export function openBackend(params: BackendParams): SessionBackend {
  const { init, onStep, onEvent, onReady, onRoom, onAborted, onEnding } = params;
  let isReady = false;
  const session: ResidentSession = new ResidentSession(init, {
    onEvent: (event) => {
      onEvent?.(event);
      if (event.type === 'recovery') onStep(`${recoveryText(event)}: ${event.error.message}`);
      else if (event.type === 'warning') onStep(event.text);
      else if (event.type === 'host-up' && isReady) onStep(`host ${event.name} is up`);
      if (isReady && event.type === 'recovery') onRoom();
    },
    onRoom: () => {
      if (isReady) onRoom();
    },
    onReady: () => {
      isReady = true;
      onReady(session.hosts.filter(({ state }) => state === 'up').length);
    },
    onAborted: (failures) => onAborted(abortError(failures.map(({ error }) => error))),
    onEnding,
  });
  const onStopped: (() => void)[] = [];
  let state: 'running' | 'stopping' | 'stopped' = 'running';
  return {
    hosts: () => session.hosts,
    continues: session.continues,
    launcher: session.launcher,
    faults: session.faults,
    spares: () => session.spares,
    topology: (survey) => session.topology(survey),
    openFrontEnd: (events) => session.openFrontEnd(events),
    addHosts: (hosts, done) => session.addHosts(hosts, done),
    removeHosts: (names, options, done) => session.removeHosts(names, options, done),
    gatherMetrics: (gathered) => session.gatherMetrics(gathered),
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

function abortError([first, ...more]: readonly ErrorRecord[]): StciError {
  if (first === undefined) return new StciError('STCI_LAUNCH_FAILED', 'No host came up.');
  const { code, message } = fromErrorRecord(first);
  return new StciError(code, [message, ...new Set(more.map((other) => `also: ${other.message}`))].join('\n'));
}
