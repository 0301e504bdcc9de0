/** Shapes of fault injection in messages: of front-ends, and of the sites of faults (injection/messages.ts). */

import type { FaultOrder, FaultPart, FaultReport, FaultVictim } from '@stci/interface';
import { BODY_BYTES_MAX, members, numbers, text } from '../codec/bounds.js';
import { any, integer, num, object, oneOf, optional, str, tuple, u32, variant, wallTime } from '../codec/shape.js';
import { jobParams } from './job-shapes.js';

/** Longest name of an injection. */
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

export const faultPart = object<FaultPart>({
  at: object<FaultPart['at']>({ role: oneOf('controller', 'root', 'session'), host: u32 }), body: any(BODY_BYTES_MAX),
});

export const faultReport = object<FaultReport>({
  id: faultName, agent: faultName, host: u32, state: oneOf('injected', 'undone', 'lapsed', 'failed', 'skipped'), text,
  wallMs: wallTime, monotonicMs: num,
});
