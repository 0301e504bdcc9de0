/**
 * Message types between a front-end in another process and its session: calls, each with its own reply, and what goes
 * with the records of the job that is followed.
 */

import type { ClockOffset, ExperimentTerms } from '@stci/interface';
import { MESSAGE_BYTES_MAX, chunk, members, name, numbers, text } from '../codec/bounds.js';
import {
  any, bool, fields, integer, list, num, object, oneOf, optional, tuple, u32, type Infer,
} from '../codec/shape.js';
import { metricRows } from '../metrics/row.js';
import { faultName, faultOrder, faultReport } from './fault-shapes.js';
import { heldRows } from './held-rows.js';
import { errorRecord, hostSpec, jobControl, jobMap, jobReport, jobSpec, signalName, stdinTo } from './job-shapes.js';
import { agentLinks } from './link-report.js';
import { jobLabel, wireRecord } from './records.js';

/** Orders of one moment. */
const ORDERS_MAX = 1024;
const LEASE_MIN_MS = 1000;
const LEASE_MAX_MS = 3_600_000;

const from = ['front-end'] as const;

/** A job that was submitted, or attached to. `input`: this front-end's is taken; else another's, until that leaves. */
const acceptedJob = fields({ job: u32, stdin: stdinTo, map: jobMap, input: bool });

/** What became of a host that was to come or to leave; `error`: why it did not. */
const hostOutcome = fields({ name, error: optional(errorRecord) });
export type HostOutcome = Infer<typeof hostOutcome>;
const hostOutcomes = members(hostOutcome);

const clockOffset = object<ClockOffset>({ host: u32, name, offsetMs: num, errorMs: num, samples: u32 });

const terms = object<ExperimentTerms>({
  leaseMs: integer(LEASE_MIN_MS, LEASE_MAX_MS), ownsSession: bool, allow: list(oneOf('controller', 'front-end'), 2),
  victimsMax: u32, keepRanks: numbers, keepHosts: numbers,
});

export const SESSION_MESSAGES = {
  /** Run this job. Parts: why it waits. `detach`: it is not followed. */
  'client.submit': {
    id: 40, from, late: true,
    body: fields({ spec: jobSpec, wait: bool, detach: bool, label: jobLabel }), part: text, reply: acceptedJob,
  },
  /** `all`: all output that is kept; `input`: this front-end writes standard input. */
  'client.attach': {
    id: 41, from, late: true, body: fields({ job: u32, all: bool, input: bool }), reply: acceptedJob,
  },
  /**
   * The records of the job that was accepted, within credit; `[source, bytes]` of output that was dropped before.
   * `unread`: no rank reads standard input any longer. It fails when there are no more, for whatever reason.
   */
  'client.follow': {
    id: 45, from, late: true, body: fields({}),
    part: fields({ records: members(wireRecord), missed: members(tuple(u32, num)), unread: bool }),
  },
  /** Room for so much more; so much of what was sent is shown, from the oldest on. */
  'client.credit': { id: 46, from, body: fields({ bytes: u32, shown: u32 }) },
  /** Standard input, empty at its end; answered when there is room for as much again. */
  'client.input': { id: 47, from, late: true, body: fields({ data: chunk }) },
  'client.control': { id: 50, from, body: jobControl },
  'client.status': { id: 51, from, body: fields({}), reply: any(MESSAGE_BYTES_MAX) },
  /** Links of each agent, measured now; then the overlay, as it was asked for, empty: none. */
  'client.topology': { id: 86, from, late: true, body: fields({}), part: agentLinks, reply: text },
  'client.ranks': { id: 52, from, body: fields({ job: u32, from: u32 }), reply: any(MESSAGE_BYTES_MAX) },
  'client.signal': { id: 53, from, body: fields({ job: u32, signal: optional(signalName) }) },
  'client.stop': { id: 54, from, body: fields({}) },
  /** Answered when the job has ended; the report is without ranks and failures. */
  'client.wait': { id: 55, from, late: true, body: fields({ job: u32 }), reply: jobReport },
  /** Start these hosts; let these leave. */
  'client.add': { id: 57, from, late: true, body: fields({ hosts: members(hostSpec) }), reply: hostOutcomes },
  'client.remove': {
    id: 58, from, late: true, body: fields({ names: members(name), force: bool, timeoutMs: optional(u32) }),
    reply: hostOutcomes,
  },
  /** Metrics: of each agent, then the names of those that did not answer. */
  'client.metrics': {
    id: 111, from, late: true, body: fields({}), part: fields({ agent: name, rows: metricRows }), reply: members(name),
  },
  /** What each agent holds, with the names of its host and itself; then the names of those that did not answer. */
  'client.held': {
    id: 147, from, late: true, body: fields({}), part: fields({ host: name, agent: name, rows: heldRows }),
    reply: members(name),
  },
  /** Begins an experiment, or renews it. One at a time in a session. */
  'client.experiment': { id: 120, from, body: fields({ terms }) },
  /** What becomes of the orders: of each at least one report, then what follows. */
  'client.reports': { id: 122, from, late: true, body: fields({}), part: faultReport },
  /** Orders of one moment. */
  'client.inject': { id: 121, from, body: fields({ orders: list(faultOrder, ORDERS_MAX) }) },
  /**
   * Undo this injection; empty: all, and end the experiment. Answered when no fault is in force, with the names of
   * agents that could not be reached; their faults lapse by themselves.
   */
  'client.undo': { id: 123, from, late: true, body: fields({ id: faultName }), reply: members(name) },
  /** Measure the clocks of all hosts. */
  'client.clocks': { id: 125, from, late: true, body: fields({}), reply: members(clockOffset) },
} as const;
