/**
 * An agent's main function, the bootstrapping phase (STCI paper, III-B): boot record, link to the parent, handshake. It
 * imports only what this phase needs; everything else is loaded once the link is up, so that the parent's handshake
 * window measures the host and not the loading of our modules.
 */

import {
  StciError, type AgentWait, type Channel, type LinkCloseReason, type Platform, type SignalName,
} from '@stci/interface';
import { readBootRecord, type BootRecord } from '../bootcom/boot-record.js';
import { Link, type LinkEvents } from '../bootcom/link.js';
import type { Frame } from '../codec/frame.js';

/** Default deadline of the boot record. */
const BOOT_RECORD_MS = 30_000;

/** Largest queue of a boot link in bytes before the parameters are known. */
const BOOT_QUEUE_BYTES_MAX = 64 * 1024 * 1024;

/** How an agent ended. */
export interface AgentEnd {
  readonly failed: boolean;
  readonly reason: string;
}

/** The boot link, up, with the frames received since; undefined: not made yet, the boot details say how. */
export interface BootLink {
  readonly link: Link;
  /** Passes the frames so far, then all events of the link, to `events`. */
  takeOver(events: LinkEvents): void;
}

/** See AgentWait. */
export type ListenPlace = Pick<AgentWait, 'interfaces' | 'ports'>;

export interface RoleInit {
  readonly platform: Platform;
  readonly boot: BootRecord;
  readonly bootLink: BootLink | undefined;
  /** The agent is all of its process, not an object or a thread in its parent's. */
  readonly ownsProcess: boolean;
  /** Gives up the channel of the start; for a role that goes on without its parent. */
  readonly release: () => void;
  /** Where it waits for another parent, if not at a private socket. */
  readonly listens?: ListenPlace | undefined;
  readonly exit: (end: AgentEnd) => void;
}

export interface AgentHandle {
  /** Ends the agent and its tools at once, as SIGKILL would. */
  abort(reason: string): void;
  /** Ends it in order, as having failed. */
  fail(reason: string): void;
  /** Told to end from outside, with all that runs on this host: with a parent, that is the controller's to decide. */
  terminated(reason: string): void;
  /** A signal to this agent that is meant for the programs here. */
  forward(signal: SignalName): void;
  /** The channel of the start has closed, and is not the boot link: the parent is gone. */
  parentGone(reason: string): void;
}

/** Starts the role that the boot record's address implies; see agent/start.ts. */
export type RoleFactory = (init: RoleInit) => AgentHandle;

export interface AgentMainInit {
  readonly platform: Platform;
  /** The channel of the start: standard input and output, a message port, memory. */
  readonly channel: Channel;
  /** Deadline of the boot record. */
  readonly waitMs?: number | undefined;
  /** Loads the rest of the agent. */
  load(done: (start: RoleFactory) => void): void;
  /** Gets the plugins that the boot record names; then the channel is the link's. Absent: they are here. */
  plugins?(boot: BootRecord, channel: Channel, done: (error: string, rest?: Channel) => void): void;
  /** See RoleInit. */
  release?(): void;
  readonly listens?: ListenPlace | undefined;
  /** Called exactly once. */
  exit(end: AgentEnd): void;
}

export function runAgent(init: AgentMainInit): Pick<AgentHandle, 'abort' | 'fail' | 'terminated' | 'forward'> {
  return new AgentMain(init);
}

class AgentMain {
  readonly #init: AgentMainInit;
  #role: AgentHandle | undefined;
  #over = false;

  constructor(init: AgentMainInit) {
    this.#init = init;
    readBootRecord(init.channel, init.platform.clock, init.waitMs ?? BOOT_RECORD_MS, (error, boot, rest) => {
      if (boot === undefined || rest === undefined) this.#exit({ failed: true, reason: error?.message ?? 'no record' });
      else if (boot.hasPlugins !== true || init.plugins === undefined) this.#link(boot, rest);
      else init.plugins(boot, rest, (problem, channel) => {
        if (channel === undefined || problem !== '') this.#exit({ failed: true, reason: problem });
        else this.#link(boot, channel);
      });
    });
  }

  fail(reason: string): void {
    if (this.#role === undefined) this.abort(reason);
    else this.#role.fail(reason);
  }

  terminated(reason: string): void {
    if (this.#role === undefined) this.abort(reason);
    else this.#role.terminated(reason);
  }

  forward(signal: SignalName): void {
    this.#role?.forward(signal);
  }

  abort(reason: string): void {
    if (this.#role !== undefined) this.#role.abort(reason);
    else this.#init.channel.destroy(reason);
    this.#exit({ failed: true, reason });
  }

  #link(boot: BootRecord, channel: Channel): void {
    if (boot.nativeLink) this.#linkNative(boot, channel);
    else this.#linkLater(boot, channel);
  }

  #linkNative(boot: BootRecord, channel: Channel): void {
    const pending = new PendingBootLink(
      (link) => this.#startRole(boot, { link, takeOver: (events) => pending.takeOver(events) }),
      (reason, text) => this.#exit({ failed: reason !== 'goodbye', reason: text }),
    );
    const { self, job, session, secret, start, parent, frameBytesMax, handshakeMs, leaseMs } = boot;
    const admit = (peer: number): string | undefined => (peer === parent ? undefined : 'it is not the parent');
    new Link(
      {
        role: 'parent',
        channel,
        clock: this.#init.platform.clock,
        handshake: { role: 'connect', self, job, session, secret, start, secrets: this.#init.platform.secrets, admit },
        limits: {
          frameBytesMax,
          queueBytesMax: BOOT_QUEUE_BYTES_MAX,
          handshakeMs,
          ...(channel.kind !== 'memory' && { leaseMs }),
        },
      },
      pending,
    );
  }

  /** The channel stays open as a lifeline: it closes when the parent ends. What that means is the role's decision. */
  #linkLater(boot: BootRecord, channel: Channel): void {
    channel.bind({
      onData: () => undefined,
      onDrain: () => undefined,
      onClose: (reason) => this.#lifelineClosed(reason),
    });
    this.#startRole(boot, undefined);
  }

  #lifelineClosed(reason: string): void {
    const text = `the parent is gone: ${reason}`;
    if (this.#role === undefined) this.#exit({ failed: true, reason: text });
    else this.#role.parentGone(text);
  }

  #startRole(boot: BootRecord, bootLink: BootLink | undefined): void {
    this.#init.load((start) => {
      if (this.#over) return;
      const release = (): void => this.#init.release?.();
      const { platform, listens, channel: { kind } } = this.#init;
      const ownsProcess = kind !== 'memory' && kind !== 'thread';
      this.#role = start({ platform, boot, bootLink, ownsProcess, release, listens, exit: (end) => this.#exit(end) });
    });
  }

  #exit(end: AgentEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#init.exit(end);
  }
}

/** Keeps the events of the boot link between its handshake and the start of the role. */
class PendingBootLink implements LinkEvents {
  readonly #onLinkUp: (link: Link) => void;
  readonly #onEarlyClose: (reason: LinkCloseReason, text: string) => void;
  #target: LinkEvents | undefined;
  #link: Link | undefined;
  #frames: Frame[] = [];

  constructor(
    onLinkUp: (link: Link) => void,
    onEarlyClose: (reason: LinkCloseReason, text: string) => void,
  ) {
    this.#onLinkUp = onLinkUp;
    this.#onEarlyClose = onEarlyClose;
  }

  takeOver(events: LinkEvents): void {
    const link = this.#link;
    if (link === undefined) throw new StciError('STCI_INTERNAL', 'The boot link is taken over after its handshake');
    this.#target = events;
    events.onUp(link);
    for (const frame of this.#frames) events.onFrame(link, frame);
    this.#frames = [];
  }

  onUp(link: Link): void {
    this.#link = link;
    this.#onLinkUp(link);
  }

  onFrame(link: Link, frame: Frame): void {
    if (this.#target === undefined) this.#frames.push(frame);
    else this.#target.onFrame(link, frame);
  }

  onDrain(link: Link): void {
    this.#target?.onDrain(link);
  }

  onClosed(link: Link, reason: LinkCloseReason, text: string): void {
    if (this.#target === undefined) this.#onEarlyClose(reason, text);
    else this.#target.onClosed(link, reason, text);
  }
}
