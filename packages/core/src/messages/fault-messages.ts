/** Message types of fault injection, between the controller and the sites of faults. */

import type { FaultOrder, FaultPart, FaultReport, FaultVictim } from '@stci/interface';
import { BODY_BYTES_MAX, members, numbers, text } from '../codec/bounds.js';
import {
  any, bool, fields, integer, num, object, oneOf, optional, str, tuple, u32, variant, wallTime,
} from '../codec/shape.js';
import { jobParams } from './job-shapes.js';

/** Longest name of an injection, and of a mark. */
const NAME_CHARS_MAX = 256;
/** A day. */
const DURATION_MAX_MS = 86_400_000;

export const faultName = str(NAME_CHARS_MAX);

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

export const faultOrder = object<FaultOrder>({
  id: faultName, kind: faultName, args: jobParams, victim: faultVictim, job: u32,
  durationMs: optional(integer(0, DURATION_MAX_MS)), timeoutMs: integer(1, DURATION_MAX_MS),
});

const faultPart = object<FaultPart>({
  at: object<FaultPart['at']>({ role: oneOf('controller', 'root', 'session'), host: u32 }), body: any(BODY_BYTES_MAX),
});

export const faultReport = object<FaultReport>({
  id: faultName, agent: faultName, host: u32, state: oneOf('injected', 'undone', 'lapsed', 'failed', 'skipped'), text,
  wallMs: wallTime, monotonicMs: num,
});

export const FAULT_MESSAGES = {
  /** Controller → site: set up and inject this part. The site undoes it by itself after the order's duration. */
  'fault.inject': {
    id: 127, from: ['controller'], body: fields({ order: faultOrder, number: u32, part: faultPart }),
  },
  'fault.undo': { id: 128, from: ['controller'], body: fields({ id: faultName }) },
  /**
   * Site → controller; as a request, its reply has no body. `number`: of the part in the plan; `over`: torn down.
   */
  'fault.report': {
    id: 129, from: ['root', 'session'], ofOwnHost: true,
    body: fields({ host: u32, number: u32, report: optional(faultReport), id: faultName, over: bool }),
  },
  /** Controller → root agent, request: its clock. */
  'agent.clock': { id: 130, from: ['controller'], body: fields({}), reply: fields({ wallMs: wallTime, nowMs: num }) },
  /** Session agent → controller: marks of programs, `[rank, name, wallMs]` each. */
  'program.marked': {
    id: 101, from: ['session'], ofOwnHost: true,
    body: fields({ host: u32, marks: members(tuple(u32, faultName, wallTime)) }),
  },
} as const;
