// @ts-check
/**
 * The φ accrual detector of one agent: it pings its neighbours of a topology each period, learns how regularly each
 * of them answers, and reports one when its silence has become too unlikely. Where a neighbour is dead, those behind
 * it are pinged in its place.
 *
 * @typedef {import('@stci/interface').DetectorAction} Action
 * @typedef {import('@stci/interface').DetectorEvent} Event
 * @typedef {import('@stci/interface').DetectorInit} Init
 * @typedef {import('@stci/interface').MemberId} Member
 *
 * @typedef {object} Target
 * @property {Member} member
 * @property {number} pingDueMs
 * @property {number} heardMs its last sign of life, or when it must have begun to give some
 * @property {number | undefined} lastMs its last sign of life, if there was any
 * @property {number | undefined} sampleFromMs from when the next time between two answers is measured
 * @property {number | undefined} suspectedMs
 * @property {boolean} isReported since it was heard last
 * @property {Arrivals} arrivals
 *
 * @typedef {object} Settings
 * @property {number} periodMs
 * @property {number} suspectDeviations
 * @property {number} reportDeviations
 * @property {number} graceMs
 * @property {import('./arrivals.js').Bounds} bounds
 */

import { Arrivals } from './arrivals.js';

/** @implements {import('@stci/interface').Detector} */
export class Phi {
  #self;
  #settings;
  #topologyOf;
  #members;
  /** @type {Map<number, Target>} */
  #targets = new Map();
  #isStarted = false;

  /** @param {Init} init @param {Settings} settings */
  constructor({ self, members, topologyOf }, settings) {
    if (topologyOf === undefined) throw new Error('phi needs a topology');
    this.#self = self;
    this.#settings = settings;
    this.#topologyOf = topologyOf;
    this.#members = members;
  }

  get dueMs() {
    let dueMs = Infinity;
    for (const target of this.#targets.values()) {
      dueMs = Math.min(dueMs, target.pingDueMs, this.#deadlineMs(target));
    }
    return dueMs === Infinity ? undefined : dueMs;
  }

  /** @param {Event} event @param {number} nowMs @returns {readonly Action[]} */
  on(event, nowMs) {
    switch (event.type) {
      case 'start':
        this.#isStarted = true;
        this.#watchNeighbours(nowMs, this.#settings.graceMs);
        return [];
      case 'due':
        return this.#onDue(nowMs);
      case 'message':
        return this.#onMessage(event.from, event.body, nowMs);
      case 'joined':
      case 'gone':
      case 'refuted':
        this.#watchNeighbours(nowMs, event.type === 'joined' ? this.#settings.graceMs : 0);
        return [];
      case 'lag': // What could not be heard meanwhile says nothing about others.
        for (const target of this.#targets.values()) {
          target.heardMs += event.lagMs;
          target.sampleFromMs = undefined;
        }
        return [];
      default:
        return [];
    }
  }

  /** @param {Member} from @param {unknown} body @param {number} nowMs @returns {Action[]} */
  #onMessage(from, body, nowMs) {
    if ((body !== 'ping' && body !== 'answer') || this.#members.isGone(from)) return [];
    /** @type {Action[]} */
    const actions = body === 'ping' ? [{ type: 'send', to: from.position, body: 'answer' }] : [];
    const target = this.#targets.get(from.position);
    if (target === undefined || target.member.incarnation !== from.incarnation) return actions;
    if (body === 'answer') {
      if (target.sampleFromMs !== undefined) {
        const ms = nowMs - target.sampleFromMs;
        target.arrivals.add(ms);
        actions.push({ type: 'count', metric: 'arrivals_ms', value: ms });
      }
      target.sampleFromMs = nowMs;
    }
    target.heardMs = Math.max(target.heardMs, nowMs);
    target.lastMs = nowMs;
    if (target.suspectedMs !== undefined) actions.push({ type: 'trust', member: target.member });
    target.suspectedMs = undefined;
    target.isReported = false;
    return actions;
  }

  /** @param {number} nowMs */
  #onDue(nowMs) {
    /** @type {Action[]} */
    const actions = [];
    for (const target of this.#targets.values()) {
      if (nowMs >= this.#deadlineMs(target)) this.#onSilence(target, nowMs, actions);
      if (nowMs < target.pingDueMs) continue;
      const nextMs = target.pingDueMs + this.#settings.periodMs;
      target.pingDueMs = nextMs > nowMs ? nextMs : nowMs + this.#settings.periodMs;
      actions.push({ type: 'send', to: target.member.position, body: 'ping' });
      actions.push({ type: 'count', metric: 'pings', value: 1 });
    }
    return actions;
  }

  /** @param {Target} target */
  #deadlineMs({ heardMs, suspectedMs, isReported, arrivals }) {
    if (isReported) return Infinity;
    const { suspectDeviations, reportDeviations } = this.#settings;
    return heardMs + arrivals.silenceMs(suspectedMs === undefined ? suspectDeviations : reportDeviations);
  }

  /** @param {Target} target @param {number} nowMs @param {Action[]} actions */
  #onSilence(target, nowMs, actions) {
    const { member, heardMs, lastMs, suspectedMs } = target;
    const evidence = `no answer for ${Math.round(nowMs - heardMs)} ms`;
    if (suspectedMs === undefined) {
      target.suspectedMs = nowMs;
      actions.push({ type: 'suspect', member, evidence });
      return;
    }
    // It stays a target until it is gone, or heard, and is reported once.
    target.isReported = true;
    target.pingDueMs = nowMs + this.#settings.periodMs;
    actions.push({ type: 'report', failed: member, cause: 'silent', evidence, suspectedMs, heardMs: lastMs });
  }

  /** @param {number} nowMs @param {number} graceMs */
  #watchNeighbours(nowMs, graceMs) {
    if (!this.#isStarted) return;
    const neighbours = this.#neighbours();
    for (const position of this.#targets.keys()) if (!neighbours.has(position)) this.#targets.delete(position);
    for (const [position, member] of neighbours) {
      if (this.#targets.get(position)?.member.incarnation === member.incarnation) continue;
      this.#targets.set(position, {
        member, pingDueMs: nowMs, heardMs: nowMs + graceMs, lastMs: undefined, sampleFromMs: undefined,
        suspectedMs: undefined, isReported: false, arrivals: new Arrivals(this.#settings.bounds),
      });
    }
  }

  /** The living agents that are linked with this one, or behind dead ones that are. */
  #neighbours() {
    const topology = this.#topologyOf(this.#members.size);
    const through = new Set([this.#self.position]);
    /** @type {Map<number, Member>} */
    const found = new Map();
    for (const at of through) {
      for (const next of topology.neighbours(at)) {
        const member = this.#members.at(next);
        if (member === undefined) through.add(next);
        else if (next !== this.#self.position) found.set(next, member);
      }
    }
    return found;
  }
}
