/** Message types of fault injection: between front-end and session, and between controller and the sites of faults. */

import type {
  ClockOffset, ExperimentTerms, FaultOrder, FaultPart, FaultReport, FaultVictim,
} from '@stci/interface';
import { BODY_BYTES_MAX, members, name as hostName, numbers, text } from '../codec/bounds.js';
import {
  any, bool, fields, integer, list, num, object, oneOf, optional, str, tuple, u32, variant, wallTime,
} from '../codec/shape.js';
import { jobParams } from './job-shapes.js';

/** Longest name of an injection, and of a mark. */
const NAME_CHARS_MAX = 256;
/** Orders of one moment. */
const ORDERS_MAX = 1024;
/** A day. */
const DURATION_MAX_MS = 86_400_000;
const LEASE_MIN_MS = 1000;
const LEASE_MAX_MS = 3_600_000;

const name = str(NAME_CHARS_MAX);

type Victim<Kind extends FaultVictim['kind']> = Extract<FaultVictim, { readonly kind: Kind }>;

const faultVictim = variant<'kind', FaultVictim>('kind', {
  rank: object<Victim<'rank'>>({ kind: oneOf('rank'), rank: u32 }),
  agent: object<Victim<'agent'>>({
    kind: oneOf('agent'), role: oneOf('front-end', 'controller', 'root', 'session'), host: u32,
  }),
  host: object<Victim<'host'>>({ kind: oneOf('host'), host: u32 }),
  link: object<Victim<'link'>>({ kind: oneOf('link'), ends: tuple(u32, u32) }),
  partition: object<Victim<'partition'>>({ kind: oneOf('partition'), sets: members(numbers) }),
});

const faultOrder = object<FaultOrder>({
  id: name, kind: name, args: jobParams, victim: faultVictim, job: u32,
  durationMs: optional(integer(0, DURATION_MAX_MS)), timeoutMs: integer(1, DURATION_MAX_MS),
});

const faultPart = object<FaultPart>({
  at: object<FaultPart['at']>({ role: oneOf('controller', 'root', 'session'), host: u32 }), body: any(BODY_BYTES_MAX),
});

const faultReport = object<FaultReport>({
  id: name, agent: name, host: u32, state: oneOf('injected', 'undone', 'lapsed', 'failed', 'skipped'), text,
  wallMs: wallTime, monotonicMs: num,
});

const clockOffset = object<ClockOffset>({ host: u32, name: hostName, offsetMs: num, errorMs: num, samples: u32 });

const terms = object<ExperimentTerms>({
  leaseMs: integer(LEASE_MIN_MS, LEASE_MAX_MS), ownsSession: bool, allow: list(oneOf('controller', 'front-end'), 2),
  victimsMax: u32, keepRanks: numbers, keepHosts: numbers,
});

export const FAULT_MESSAGES = {
  /** Front-end → session, request: begins an experiment, or renews it. One at a time in a session. */
  'client.experiment': { id: 120, from: ['front-end'], body: fields({ terms }) },
  /** Orders of one moment. Each is answered by `client.fault`: at least one report, then what follows. */
  'client.inject': { id: 121, from: ['front-end'], body: fields({ orders: list(faultOrder, ORDERS_MAX) }) },
  'client.fault': { id: 122, from: ['controller'], body: fields({ report: faultReport }) },
  /** Undo this injection; empty: all, and end the experiment. Answered by `client.undone` when no fault is in force. */
  'client.undo': { id: 123, from: ['front-end'], body: fields({ id: name }) },
  /** `left`: names of agents that could not be reached; their faults lapse by themselves. */
  'client.undone': { id: 124, from: ['controller'], body: fields({ id: name, left: members(hostName) }) },
  /** Front-end → session: measure the clocks of all hosts; answered by `client.clocked`. */
  'client.clocks': { id: 125, from: ['front-end'], body: fields({}) },
  'client.clocked': { id: 126, from: ['controller'], body: fields({ clocks: members(clockOffset) }) },
  /** Controller → site: set up and inject this part. The site undoes it by itself after the order's duration. */
  'fault.inject': {
    id: 127, from: ['controller'], body: fields({ order: faultOrder, number: u32, part: faultPart }),
  },
  'fault.undo': { id: 128, from: ['controller'], body: fields({ id: name }) },
  /**
   * Site → controller; as a request, its reply has no body. `number`: of the part in the plan; `over`: torn down.
   */
  'fault.report': {
    id: 129, from: ['root', 'session'], ofOwnHost: true,
    body: fields({ host: u32, number: u32, report: optional(faultReport), id: name, over: bool }),
  },
  /** Controller → root agent, request: its clock. */
  'agent.clock': { id: 130, from: ['controller'], body: fields({}), reply: fields({ wallMs: wallTime, nowMs: num }) },
  /** Session agent → controller: marks of programs, `[rank, name, wallMs]` each. */
  'program.marked': {
    id: 101, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, marks: members(tuple(u32, name, wallTime)) }),
  },
} as const;
