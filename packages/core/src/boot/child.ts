/** A child of an agent: what it is started from, and its state. Kept by the supervisor (child-supervisor.ts). */

import {
  StciError, addressName, agentKey, agentName, type Address, type AgentProcess, type AgentProcessEvents, type Channel,
  type HostSpec, type JobId,
  type LinkCloseReason, type ProcessEnd, type Timer,
} from '@stci/interface';
import { encodeBootRecord, type BootRecord } from '../bootcom/boot-record.js';
import type { Link } from '../bootcom/link.js';
import { nextState, type LifeTable } from '../event/lifecycle.js';
import type { LossEvidence } from '../membership/mender.js';
import type { AgentNode } from '../node/node.js';
import type { StartWatch } from './start-watch.js';

/** Lines of a child's standard error kept for its failure report. */
const DIAGNOSTIC_LINES_MAX = 8;

export interface ChildSpec {
  readonly address: Address;
  /** Of a session agent; else 0. */
  readonly job: JobId;
  readonly host: HostSpec;
  /** Distinguishes this start from earlier ones of the same agent. */
  readonly incarnation: number;
  /** BootDetails as CBOR. */
  readonly details: Uint8Array;
  start(events: AgentProcessEvents): AgentProcess;
}

/**
 * `adopting`: it runs already, and is being linked. `lost`: its link is lost, and it may run: it ends by itself unless
 * another agent links to it.
 */
export type ChildState = 'waiting' | 'starting' | 'adopting' | 'up' | 'lost' | 'stopping' | 'gone';

export type ChildEvent =
  /** Its process is being started. */
  | 'start'
  /** Its link is up. */
  | 'up'
  | 'fail'
  | 'lose'
  /** It is to end; one that is being adopted is left to its adoption. */
  | 'stop'
  /** Nothing is left of its link and process, or nothing more is awaited. */
  | 'settle';

export const CHILD_LIFE: LifeTable<ChildState, ChildEvent> = {
  of: 'a child',
  first: 'waiting',
  rows: {
    waiting: { start: 'starting', stop: 'gone', settle: 'gone' },
    starting: { up: 'up', fail: 'stopping' },
    adopting: { up: 'up', settle: 'gone' },
    up: { lose: 'lost', stop: 'stopping' },
    lost: { stop: 'stopping', settle: 'gone' },
    stopping: { settle: 'gone' },
    gone: { settle: 'gone' },
  },
};

/** What the supervisor of a child reports when it did not come up, or is lost. */
export interface ChildFailure {
  readonly kind: 'agent-launch' | 'agent-lost';
  readonly agent: Address;
  readonly job: JobId;
  readonly incarnation: number;
  readonly evidence: LossEvidence;
  readonly error: StciError;
}

export function newChild(spec: ChildSpec, state: ChildState): Child {
  return {
    spec, state, linkClosed: true, exited: true, hasEnded: false, reported: false, killed: false, diagnostics: [],
  };
}

export function change(child: Child, event: ChildEvent): void {
  child.state = nextState(CHILD_LIFE, child.state, event);
}

export interface Child {
  readonly spec: ChildSpec;
  state: ChildState;
  process?: AgentProcess;
  /** Of one that was adopted again by the agent that started it: its process. */
  origin?: AgentProcess;
  link?: Link;
  linkClosed: boolean;
  exited: boolean;
  /** The exit was that of the agent itself, and not only of the connection to it. */
  hasEnded: boolean;
  reported: boolean;
  killed: boolean;
  watch?: StartWatch;
  /** The channel while the agent may ask for plugins. */
  transfer?: Channel;
  /** What it said in place of an agent's first words, as a sentence. */
  saidFirst?: string;
  /** Deadline of the end of one that was released. */
  endTimer?: Timer;
  readonly diagnostics: string[];
}

/** The key of a child among those of its supervisor. */
export function keyOf({ address, job }: ChildSpec): number {
  return agentKey(address, job);
}

export function nameOf({ address, job }: ChildSpec): string {
  return agentName(address, job);
}

/** Keeps a line of its standard error for its failure report. */
export function keepLine({ diagnostics }: Pick<Child, 'diagnostics'>, line: string): void {
  diagnostics.push(line);
  if (diagnostics.length > DIAGNOSTIC_LINES_MAX) diagnostics.shift();
}

/** What an agent farther down has said, as its parent told it. */
const RELAYED = /^stci \w+: (\w+:\d+ on host .*)$/su;

/** A line of an agent for the log. What a plugin prints or does wrong is for its user: all agents above tell it. */
export function relayedDiagnostic(
  { address, host }: Pick<ChildSpec, 'address' | 'host'>,
  line: string,
): [level: 'warn' | 'info', text: string] {
  const [, told = `${addressName(address)} on host ${host.name}: ${line.replace(/^stci warn: /u, '')}`] =
    RELAYED.exec(line) ?? [];
  return [/(?:^|: )(?:output of )?plugin \//u.test(line) ? 'warn' : 'info', told];
}

/**
 * What an agent says of a plugin that ends it (stcirun/src/plugin). What a plugin prints begins with `output of`. The
 * name of a call has no space; that of a module may, and is bounded so that long lines are not read again and again.
 */
const PLUGIN_FAULT = new RegExp('^(?:stci: |stci warn: )?(?:agent ended: )?(plugin (/.*?): (?:\\S+ failed: |(?:\\S+|'
  + 'the load of .{1,200}?) has (?:not returned for|ended this process) |an error outside of any call: ).*)', 'u');

/** The plugin that has ended a child, and what was said of it. */
function faultIn(lines: readonly string[]): Readonly<Record<'text' | 'plugin', string>> | undefined {
  for (const line of lines) {
    const [, text, plugin] = PLUGIN_FAULT.exec(line) ?? [];
    if (text === undefined || plugin === undefined) continue;
    return { text: text.replace(/ This process ends\.$/u, ''), plugin };
  }
  return undefined;
}

/** The failure of a child, with its host and what it printed last. */
export function childError(
  code: 'STCI_LAUNCH_FAILED' | 'STCI_AGENT_LOST',
  { spec, diagnostics }: Child,
  what: string,
  data?: StciError['data'],
): StciError {
  const { text, plugin } = withDiagnostics(what, diagnostics);
  const agent = addressName(spec.address);
  const host = spec.host.name;
  return new StciError(code, `Agent ${agent} on host ${host} ${text}`, { host, agent, data: { ...data, ...plugin } });
}

export function childFailure(
  code: 'STCI_LAUNCH_FAILED' | 'STCI_AGENT_LOST', child: Child, evidence: LossEvidence, what: string,
  data?: StciError['data'],
): ChildFailure {
  const { address: agent, job, incarnation } = child.spec;
  const kind = code === 'STCI_LAUNCH_FAILED' ? 'agent-launch' : 'agent-lost';
  return { kind, agent, job, incarnation, evidence, error: childError(code, child, what, data) };
}

/** What happened to an agent, with the lines that it printed; the plugin that has ended it, for the error's data. */
export function withDiagnostics(
  what: string,
  lines: readonly string[],
): { readonly text: string; readonly plugin: { readonly plugin?: string } } {
  const told = faultIn([what.replace(/^exited: /u, '')]);
  const fault = told ?? faultIn(lines);
  // Records and summaries have the first line only.
  const why = fault === undefined || told !== undefined ? what : `${what}: ${fault.text}`;
  const rest = lines.filter((line) => fault === undefined || !line.includes(fault.text));
  return { text: `${why}${diagnosticsText(rest)}`, plugin: fault === undefined ? {} : { plugin: fault.plugin } };
}

/** Lines that an agent printed, for failure reports. */
export function diagnosticsText(lines: readonly string[]): string {
  return lines.map((line) => `\n  it printed: ${line}`).join('');
}

/** What the end of its link says about a child. One that broke the protocol, or said goodbye, is not linked again. */
export function evidenceOf({ hasEnded }: Child, reason: LinkCloseReason): LossEvidence {
  if (hasEnded || reason === 'protocol' || reason === 'goodbye') return 'exited';
  return reason === 'silent' ? 'silent' : 'closed';
}

/** The link of an agent that is reached over a connection closes, too, and may say why: that it was refused. */
export function isToldByLink({ process, linkClosed }: Child): boolean {
  return process?.isConnection === true && !linkClosed;
}

/** How a child that is being started ended. */
export function describeExit({ process, saidFirst }: Child, end: ProcessEnd): string {
  const isClosed = process?.isConnection === true && end.status === 0;
  const said = saidFirst === undefined ? '' : `${saidFirst}; `;
  return `${said}${isClosed ? 'it closed its connection' : `the command ${describeEnd(end)}`}`;
}

/** How its process ended. */
export function describeEnd({ status, signal }: ProcessEnd): string {
  return signal === undefined ? `ended with status ${status ?? 0}` : `was killed by ${signal}`;
}

/** The boot record of a child of the agent `node`. */
export function bootRecordOf(
  node: AgentNode,
  { spec }: Child,
  { nativeLink, handshakeMs, hasPlugins }: Required<Pick<BootRecord, 'nativeLink' | 'handshakeMs' | 'hasPlugins'>>,
): Uint8Array {
  const { session, self } = node.identity;
  const { address, job } = spec;
  const { params } = node;
  return encodeBootRecord({
    session, job, nativeLink, handshakeMs, hasPlugins,
    secret: node.secretOf(address, job),
    self: address,
    parent: self,
    start: spec.incarnation,
    frameBytesMax: params.int('bootcom.frame.max'),
    leaseMs: params.int('bootcom.lease'),
    details: spec.details,
  });
}
