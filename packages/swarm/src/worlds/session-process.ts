/** The process of a simulated session, as shipped, and the connection of a front-end to it. */

import { type Composition } from '@stci/core';
import { Session, type JobFrontEnd } from '@stci/core/controller';
import { SessionJobs, SessionServer } from '@stci/core/resident';
import { SessionClient, makeSessionKey, type SessionKey } from '@stci/core/session';
import type { Allocation, FrontEndEvents, StciError } from '@stci/interface';
import { SimRandom, type AgentContext, type AgentMain, type SimProcess } from '@stci/platform-sim';
import { composition, resolveSettings } from './assembly.js';
import type { SimulatedDisk } from './spool-files.js';

const CONNECT_MS = 10_000;
/** How often it is looked whether the owner runs, as by a real session. */
const OWNER_PERIOD_MS = 250;

/** What a session is started with, and what its process then says. */
export interface SessionProcess {
  readonly name: string;
  readonly seed: number | string;
  readonly settings: Readonly<Record<string, string>>;
  readonly allocation: Allocation;
  readonly spoolBytes: number;
  readonly disk: SimulatedDisk;
  /** It is for one job: how long it keeps the result. */
  readonly lingerMs?: number;
  /** It ends with this process. */
  owner?: SimProcess;
  /** Output that the front-ends have not been told to release. */
  readonly unreleased: { bytes: number; max: number };
  /** The session's process sets these. */
  jobs?: SessionJobs;
  isReady?: boolean;
  socket?: string;
  key?: SessionKey;
  /** Its hosts did not come up. */
  failure?: StciError;
}

export const noOutput = (): SessionProcess['unreleased'] => ({ bytes: 0, max: 0 });

export function sessionMain(session: SessionProcess, onNode: Composition['onNode']): AgentMain {
  return ({ platform, exit, onSignal }) => {
    const { name, seed, settings, allocation, disk, spoolBytes, lingerMs } = session;
    const { params, snapshot } = resolveSettings(settings);
    const init = {
      platform, composition: { ...composition, ...(onNode !== undefined && { onNode }) }, params, snapshot, allocation,
    };
    const onFailed = (error: StciError): void => void (session.failure = error);
    const jobs: SessionJobs = new SessionJobs({
      name,
      version: '1',
      clock: platform.clock,
      session: (observer) => new CountedSession(session.unreleased, init, observer),
      spoolFiles: (spool) => disk.files(platform.clock, new SimRandom(`disk ${seed} ${spool}`)),
      spoolBytesMax: spoolBytes,
      ...(lingerMs !== undefined && { lingerMs }),
      onReady: () => (session.isReady = true),
      onAborted: onFailed,
      onEnding: onFailed,
      onStopped: () => server.disconnect(() => exit(0)),
    });
    session.jobs = jobs;
    session.key = makeSessionKey(platform);
    const server = new SessionServer({ platform, params, key: session.key, service: jobs });
    server.listen((_error, path) => (session.socket = path));
    onSignal('SIGTERM', () => jobs.stop());
    const watch = (): void => {
      if (session.owner?.isAlive === false) return jobs.stop();
      platform.clock.after(OWNER_PERIOD_MS, watch);
    };
    if (session.owner !== undefined) watch();
  };
}

/** Counts the output between the session's agents and the spool. */
class CountedSession extends Session {
  readonly #unreleased: SessionProcess['unreleased'];

  constructor(unreleased: SessionProcess['unreleased'], ...given: ConstructorParameters<typeof Session>) {
    super(...given);
    this.#unreleased = unreleased;
  }

  override follow(events: FrontEndEvents): JobFrontEnd {
    const unreleased = this.#unreleased;
    return super.follow({
      onJobEvent: (event) => events.onJobEvent(event),
      onOutput: (rank, stream, chunk, wallMs, release) => {
        unreleased.bytes += chunk.length;
        unreleased.max = Math.max(unreleased.max, unreleased.bytes);
        events.onOutput(rank, stream, chunk, wallMs, () => {
          unreleased.bytes -= chunk.length;
          release();
        });
      },
      onStdinDrain: () => events.onStdinDrain(),
      onStdinClosed: () => events.onStdinClosed(),
      onStopped: () => events.onStopped(),
    });
  }
}

/** Of a session that listens. */
export function connectTo(
  { name, settings, socket = '', key }: SessionProcess,
  { platform }: Pick<AgentContext, 'platform'>,
): SessionClient {
  const { params } = resolveSettings(settings);
  const channel = platform.network.connectPrivate(socket, CONNECT_MS);
  return new SessionClient({ platform, params, channel, key: key as SessionKey, name });
}
