/**
 * Arbiter (STCI paper, II-F): at the controller, it decides what the detectors' reports mean for the session. A member
 * that somebody reports is fenced, unless the reporter is itself dead by then: two that report each other do not both
 * go. It tells all members its verdicts.
 */

import {
  StciError, addressName, bootHost, rootAddress, type FailedSubject, type Evidence, type HostIndex, type MemberId,
} from '@stci/interface';
import { addressAt, runsOf } from '../members/positions.js';
import type { MembershipTable } from '../membership/table.js';
import type { ArbiterInit } from './contracts.js';
import { DisputedDeaths } from './disputed-deaths.js';
import { bindFailureWatch, openFailureWatch, startFailureWatch } from './failure-watch.js';
import { HostProbes } from './host-probe.js';
import { evidenceOf, lossFacts } from './loss-evidence.js';
import { MemberChanges, type MemberNews } from './member-changes.js';
import { memberOf } from './notice.js';
import type { FailureWatch } from './watch.js';

/** Reports of a host that has answered so shortly before wait for one another: nobody keeps the session busy. */
const REFUTED_MS = 1000;

export class Arbiter {
  readonly #init: ArbiterInit;
  readonly #disputed: DisputedDeaths;
  readonly #probes: HostProbes;
  readonly #changes: MemberChanges;
  readonly #refutedMs = new Map<HostIndex, number>();
  #watch: FailureWatch | undefined;

  constructor(init: ArbiterInit) {
    this.#init = init;
    const { node, overlay } = init;
    const holds = init.holds.child('arbiter');
    const hasOverlay = (): boolean => overlay.topology !== undefined;
    this.#probes = new HostProbes({ node, holds, table: () => this.table, hasOverlay });
    this.#changes = new MemberChanges(node, holds, () => this.#members());
    holds.atEnd(() => this.#watch?.stop());
    const { messages, platform: { clock } } = node;
    this.#disputed = new DisputedDeaths({
      clock, holds,
      isOpen: (member) => this.#isThere(member) && !this.#probes.isOpen(member),
      ask: (member, error) => {
        const subject = this.#hostSubject(bootHost(member.position));
        const own = { ...evidenceOf(subject, error, this.#wallMs, init.overlay.self), ...lossFacts(false, undefined) };
        this.#probe(this.noticeOf(subject) ?? own, member);
      },
    });
    messages.on('failure.seen', ({ seen, members }, { source }) => {
      for (const [key, wallMs] of seen) init.log.records.seen(key, source, wallMs);
      this.#disputed.add(source, members);
    });
    messages.on('failure.suspected', ({ member }) => this.#onSuspected(member));
    bindFailureWatch(node, () => this.#watch);
    messages.on('failure.interest', () => this.start());
  }

  get isWatching(): boolean {
    return this.#watch !== undefined;
  }

  get table(): MembershipTable {
    return this.#init.table();
  }

  /** As it was reported. */
  noticeOf(subject: FailedSubject): Evidence | undefined {
    return this.#watch?.board.get(subject)?.notice;
  }

  /** The agent of a host runs, another incarnation than before. */
  onUp(member: MemberId): void {
    if (this.#watch === undefined || !this.#init.isOpen()) return;
    const host = bootHost(member.position);
    this.#watch.joined(member);
    this.#changes.tell({ member, change: 'joined', notice: undefined });
    this.#init.node.messages.send(rootAddress(host), 'failure.watch', { members: runsOf(this.#members()) });
  }

  /** Agents watch each other from now on. */
  start(): void {
    if (this.#watch !== undefined || !this.#init.isOpen()) return;
    const { node, scope, overlay } = this.#init;
    this.#watch = openFailureWatch(node, scope, overlay, {
      onSuspected: (member) => this.#onSuspected(member),
      onNotice: (notice, news) => this.#onNotice(notice, news),
      onFenced: () => undefined,
      onCutOff: () => undefined,
    });
    const members = this.#members();
    const body = { members: runsOf(members) };
    for (const { position } of members) {
      if (position !== 0) node.messages.send(rootAddress(bootHost(position)), 'failure.watch', body);
    }
    startFailureWatch(node, scope, this.#watch, members);
  }

  /** An agent may speak of hosts that are not there. */
  #isThere(member: MemberId): boolean {
    return this.#watch !== undefined && this.#init.isOpen() && member.position > 0
      && bootHost(member.position) < this.table.size && this.#probes.isThere(member);
  }

  /** It is asked while its detector still waits for it: what it does not answer is known when it is reported. */
  #onSuspected(member: MemberId): void {
    if (this.#isThere(member)) this.#probes.suspect(member);
  }

  #onNotice(notice: Evidence, news: 'new' | 'confirmed'): void {
    const { subject, reporter, detector, evidence } = notice;
    const member = memberOf(subject);
    const { table } = this;
    // Of a rank, only what its job has a failure of: an agent may speak of ranks that are not there.
    if (member === undefined) return this.#init.log.records.has(subject) ? this.#init.record(notice) : undefined;
    if (table.get(subject.host).incarnation !== member.incarnation) return;
    if (table.isGone(subject.host)) return this.#init.record(notice);
    // One that is not recorded yet waits to be asked: its record would be told before that is decided.
    if (news === 'confirmed') return this.#init.log.records.has(subject) ? this.#init.record(notice) : undefined;
    if (reporter.position !== 0 && !this.#probes.isThere(reporter)) return this.#refute(member);
    const address = addressAt(reporter.position);
    const refutedMs = this.#refutedMs.get(subject.host) ?? -Infinity;
    if (this.#init.node.platform.clock.nowMs() < refutedMs + REFUTED_MS) return this.#disputed.add(address, [member]);
    this.#init.record(notice);
    const by = addressName(address);
    this.#init.emit({ ...this.#changed(member), change: 'suspected', detector, reporter: by, evidence });
    this.#probe(notice, member);
  }

  /** The first on the way that does not answer is given up; those below it are linked to others, and live. */
  #probe(notice: Evidence, member: MemberId): void {
    this.#init.log.records.hold(notice.subject);
    const askedWallMs = this.#wallMs;
    if (this.#probes.isOpen(member)) return;
    this.#probes.probe(member, (silent, isSilent) => {
      if (!this.#init.isOpen()) return;
      this.#init.log.release(notice.subject);
      if (this.#probes.isThere(member)) this.#onProbed(notice, { member, askedWallMs }, silent, isSilent);
    });
  }

  /** `silent`: the first on the way that did not answer. */
  #onProbed(
    notice: Evidence, { member, askedWallMs }: { readonly member: MemberId; readonly askedWallMs: number },
    silent: MemberId | undefined, isSilent: boolean,
  ): void {
    if (silent?.position === member.position) return this.#declare(notice, member);
    // The overlay leads to it once the one above it is given up. Without one, the mender has it linked again, or gives
    // it up.
    const isOpen = isSilent && this.#init.overlay.topology !== undefined;
    if (!isOpen) this.#refute(member);
    if (silent !== undefined) this.#declareAbove(notice, silent, askedWallMs);
    if (isOpen) this.#probe(notice, member);
  }

  /** It is the controller that found it: times, too, are the controller's. */
  #declareAbove({ evidence: below, cause, detector }: Evidence, member: MemberId, suspectedWallMs: number): void {
    const host = bootHost(member.position);
    if (!this.#probes.isThere(member) || this.table.get(host).state !== 'up') return;
    const subject = { kind: 'host', host, incarnation: member.incarnation } as const;
    const message = `no answer, and silence below it (${below})`;
    const own = evidenceOf(subject, { message }, this.#wallMs, this.#init.overlay.self);
    this.#declare({ ...own, cause, detector, suspectedWallMs }, member);
  }

  #refute(member: MemberId): void {
    const host = bootHost(member.position);
    this.#refutedMs.set(host, this.#init.node.platform.clock.nowMs());
    this.#init.log.records.withdraw({ kind: 'host', host, incarnation: member.incarnation });
    this.#init.emit({ ...this.#changed(member), change: 'refuted' });
    this.onVerdict({ member, change: 'refuted', notice: undefined });
  }

  /** What all events of a member say. */
  #changed({ position, incarnation }: MemberId) {
    const host = bootHost(position);
    return { type: 'member', host, name: this.#init.hostName(host), incarnation, wallMs: this.#wallMs } as const;
  }

  #declare(notice: Evidence, member: MemberId): void {
    const { reporter } = notice;
    const host = bootHost(member.position);
    const name = this.#init.hostName(host);
    const by = reporter.position === 0 ? 'the controller' : `host ${this.#init.hostName(bootHost(reporter.position))}`;
    const text = `Host ${name} is lost: ${notice.evidence} (detector ${notice.detector}, reported by ${by})`;
    const agent = addressName(rootAddress(host));
    const error = new StciError('STCI_AGENT_LOST', text, { host: name, agent });
    // Before its links are closed: it ends itself.
    const verdict = { member, change: 'dead', notice } as const;
    this.#init.node.messages.send(rootAddress(host), 'failure.changes', { changes: [verdict] });
    this.#init.declare(host, member.incarnation, { error, notice });
  }

  /** All members are told. */
  onVerdict(verdict: MemberNews): void {
    if (this.#watch === undefined || !this.#init.isOpen()) return;
    this.#watch.onChange(verdict);
    this.#changes.tell(verdict);
  }

  get #wallMs(): number {
    return this.#init.node.platform.clock.wallMs();
  }

  #hostSubject(host: HostIndex): FailedSubject {
    return { kind: 'host', host, incarnation: this.#init.memberOf(host).incarnation };
  }

  #members(): MemberId[] {
    const hosts = this.table.hosts('up', 'suspect', 'orphaned');
    return [this.#init.overlay.self, ...hosts.map((host) => this.#init.memberOf(host))];
  }
}
