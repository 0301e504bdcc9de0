/** The jobs of stcirun in a session that stays: which session, its hosts, the submission. */

import type { Registry } from '@stci/core';
import type { AcceptedJob, SessionClient, SessionStatus } from '@stci/core/session';
import {
  StciError, type AllocatedJob, type HostSpec, type ParamValue, type Params, type Platform,
} from '@stci/interface';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import type { RunRequest } from '../cli/parse.js';
import { askStatus } from '../session/ask.js';
import { connectSession, findSession } from '../session/connect.js';
import type { Instruction } from '../session/instruction.js';
import { NO_SESSION } from '../session/session-name.js';
import { SessionPlace, type FoundSession } from '../session/session-place.js';
import { startSession } from '../session/start-session.js';
import { resolveFrom } from '../files/caller-directory.js';

export interface OpenedSession {
  readonly name: string;
  readonly client: SessionClient;
  readonly status: SessionStatus;
}

export interface SessionInit {
  readonly platform: Platform;
  readonly params: Params;
}

/** The session that `--session` or STCI_SESSION names; undefined: neither does. Throws STCI_SESSION_*. */
export async function openSession(request: RunRequest, init: SessionInit): Promise<OpenedSession | undefined> {
  const variable = init.platform.env.variables['STCI_SESSION'];
  const hasOwn = variable === '' || request.alloc !== undefined || request.each !== undefined;
  const wanted = request.session ?? (hasOwn ? undefined : variable);
  if (wanted === undefined || wanted === NO_SESSION) return undefined;
  const place = placeOf(init.params);
  const option = request.session === undefined ? 'STCI_SESSION' : '--session';
  return connected(connectSession(place, findSession(place, wanted, { option, variable }), init));
}

export function placeOf(params: Params): SessionPlace {
  return new SessionPlace(params.string('session.directory'));
}

async function connected(client: SessionClient): Promise<OpenedSession> {
  const status = await askStatus(client);
  return { name: status.name, client, status };
}

/** Parameters of the job that are given here; the others are as the session has them. */
export function ownParams(registry: Registry, params: Params): Readonly<Record<string, ParamValue>> {
  const given = params.entries().filter(({ name, source }) => {
    return source !== 'default' && registry.catalog.get(name)?.spec.scope === 'job';
  });
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

/** Refuses parameters of the agents, which are the session's. */
export function checkSessionParams({ mca }: RunRequest, registry: Registry, name: string): void {
  for (const { key, origin } of mca) {
    const scope = registry.catalog.get(key)?.spec.scope;
    if (scope === 'front-end' || scope === 'job') continue;
    throw new StciError('STCI_USAGE',
      `${origin} is a parameter of the agents, which are those of session ${name}: give it to stci start.`);
  }
}

export interface OwnSessionInit extends SessionInit {
  readonly programs: string;
  readonly wdir: string | undefined;
  /** Whose session it is, for messages. */
  readonly command: string;
  readonly until: 'listening' | 'ready';
  readonly onStep: (text: string) => void;
  /** What becomes of it: ends with its first job, or with this process. */
  readonly life: Pick<Instruction, 'isForOneJob' | 'owner'>;
  /** Added to the environment of its processes. */
  readonly variables?: Readonly<Record<string, string>>;
  /** It holds this from then on. */
  readonly allocation?: HeldAllocation;
}

/** A session of this job's own. */
export async function startOwnSession(
  request: RunRequest,
  init: OwnSessionInit,
  hosts: { readonly hosts: readonly HostSpec[]; readonly spares: readonly HostSpec[] },
): Promise<OpenedSession & { readonly facts: FoundSession }> {
  const { params, programs, wdir, command, life, until, onStep, variables, allocation } = init;
  const place = placeOf(params);
  const name = place.freeName();
  await startSession({
    place,
    programs,
    instruction: {
      ...hosts,
      name,
      wdir,
      mca: request.mca,
      am: request.am.map((file) => resolveFrom(wdir, file, '--am')),
      ...life,
    },
    onStep,
    until,
    variables,
    allocation,
  });
  const facts = findSession(place, name, { option: command, variable: undefined });
  return { ...(await connected(connectSession(place, facts, init))), facts };
}

/** Rejects with StciError where the session does not take it. */
export function submitTo(
  session: Pick<OpenedSession, 'client'>, spec: AllocatedJob, request: RunRequest, say: (text: string) => void,
): Promise<AcceptedJob> {
  const { hosts: _ofSession, ...job } = spec;
  const label = request.programs.map(({ program, args }) => [program, ...args].join(' ')).join(' : ');
  const { wait, detach, quiet } = request;
  return new Promise((resolve, reject) => {
    const onWaiting = (reason: string): void => {
      // It does what the reason advises.
      if (!quiet) say(`waiting: ${reason.replace(/ Wait \w+ them \(--wait\), or .*?\. /u, ' ')}`);
    };
    session.client.submit(job, { wait, detach, label }, onWaiting, (error, accepted) => {
      if (accepted === undefined) reject(error);
      else resolve(accepted);
    });
  });
}
