/** Experiments on this machine and its hosts: each repeat has a session of its own, or takes the one that is named. */

import type {
  Check, Experiment, ExperimentDriver, HistoryRecord, OpenedTarget, RepeatPlan,
} from '@stci/finject/experiment';
import { toErrorRecord, StciError, type Platform } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import {
  identityOf, isRunning, ownParams, removeSession, startOwnSession, type FoundSession, type ProcessIdentity,
} from '@stci/stcirun/front-end';
import { CheckCommands } from './check-commands.js';
import { RUN_VARIABLE } from './marked-processes.js';
import { findOrphans, until } from './orphan-search.js';
import { prepareTarget } from './target.js';
import { withinLimit } from './within-limit.js';

/** How long a session may take to end by itself, then after SIGKILL. */
const STOP_MS = 40_000;
const KILLED_MS = 5000;
/** What is left of a session may take so long to see that it is over, beside the lease and the grace of tools. */
const LEFT_MS = 5000;
/** With them. */
const LEFT_MS_MAX = 60_000;

export interface SessionDriverInit {
  readonly experiment: Experiment;
  /** Directory of stcirun's programs. */
  readonly programs: string;
  /** Of the run. */
  readonly mark: string;
  write(record: HistoryRecord): void;
  onStep(text: string): void;
  /** The record is to be on the disk. */
  onKilled(): void;
}

export class SessionDriver implements ExperimentDriver {
  readonly platform: Platform = createNodePlatform();
  readonly within = withinLimit;
  readonly #init: SessionDriverInit;
  readonly #commands = new CheckCommands(this.platform);

  constructor(init: SessionDriverInit) {
    this.#init = init;
  }

  open(plan: RepeatPlan, done: (error: StciError | undefined, target: OpenedTarget | undefined) => void): void {
    this.#open(plan).then(
      (target) => done(undefined, target),
      (thrown: unknown) => {
        if (thrown instanceof StciError) return done(thrown, undefined);
        const { message } = toErrorRecord(thrown);
        done(new StciError('STCI_INTERNAL', message, { cause: thrown }), undefined);
      },
    );
  }

  write(record: HistoryRecord): void {
    this.#init.write(record);
  }

  killSelf(): void {
    this.#init.onKilled();
    process.kill(process.pid, 'SIGKILL');
  }

  command(check: Extract<Check, { readonly type: 'command' }>, done: (isPassed: boolean, text: string) => void): void {
    this.#commands.run(check, done);
  }

  endCommands(): void {
    this.#commands.end();
  }

  async #open(plan: RepeatPlan): Promise<OpenedTarget> {
    const { experiment, programs, onStep } = this.#init;
    const configuration = experiment.configurations.find(({ name }) => name === plan.configuration);
    const prepared = await prepareTarget(experiment, programs, configuration);
    const { planned, request, params, registry, composition, platform } = prepared;
    const mark = `${this.#init.mark}.${plan.repeat}`;
    const { clock } = this.platform;
    const sinceMs = clock.nowMs();
    const own = prepared.session === undefined ? await startOwnSession(request, {
      ...prepared, programs, onStep, command: 'finject', until: 'ready',
      life: { isForOneJob: false, owner: identityOf(process.pid) as ProcessIdentity },
      variables: { [RUN_VARIABLE]: mark },
    }, { hosts: planned.spec.hosts, spares: planned.spares }) : undefined;
    const { client, name } = own ?? prepared.session ?? {};
    if (client === undefined || name === undefined) throw new StciError('STCI_INTERNAL', 'no session');
    const { hosts, ...spec } = planned.spec;
    const all = own === undefined ? hosts : [...hosts, ...planned.spares];
    const search = {
      clock, params, mark, hosts: all, own: own && { session: own.name, sinceMs },
      launcher: prepared.session?.status.launcher ?? composition.scope('finject', params, platform).launchMethod(all),
      waitMs: Math.min(LEFT_MS_MAX, params.int('bootcom.lease') + params.int('tool.grace') + LEFT_MS),
    };
    return {
      session: name,
      client,
      spec: { ...spec, env: { ...spec.env, [RUN_VARIABLE]: mark }, params: ownParams(registry, params) },
      label: request.programs.map(({ program, args }) => [program, ...args].join(' ')).join(' : '),
      hosts: hosts.map((host) => host.name),
      ownsSession: own !== undefined,
      close: (isSearched, done) => {
        const end = endSession(own?.facts).catch(() => undefined);
        void end.then(() => findOrphans(search, isSearched)).then(done);
      },
    };
  }
}

/** Ends the session's process, which leaves nothing; a session that stays goes on. */
async function endSession(facts: FoundSession | undefined): Promise<void> {
  if (facts === undefined) return;
  const isOver = (): boolean => !isRunning(facts.process);
  for (const [signal, waitMs] of [['SIGTERM', STOP_MS], ['SIGKILL', KILLED_MS]] as const) {
    if (isOver()) break;
    process.kill(facts.process.pid, signal);
    await until(isOver, waitMs);
  }
  if (isOver()) removeSession(facts);
}
