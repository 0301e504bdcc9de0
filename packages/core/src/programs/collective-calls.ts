/**
 * Collectives at a session agent: the votes of its ranks go to the controller, those of one turn together, and its
 * decisions and refusals to the ranks.
 */

import {
  COLLECTIVES, CONTROLLER, FORMS, isInRanges, joinBytes, programRecord, ranksInRanges, type Agreed,
  type CollectiveKind, type Form, type PartHead, type ProgramErrorCode, type ProgramEvent, type Rank,
} from '@stci/interface';
import { Timers } from '../event/timers.js';
import { NO_BYTES } from '../iof/bytes.js';
import type { MessageBody } from '../messages/messages.js';
import type { JobPlace } from '../service/contracts.js';
import { callText } from './agreement-text.js';
import { collectiveLimits } from './program-limits.js';
import type { RequestOf } from './program-connection.js';
import type { Program } from './program.js';

/**
 * How long the votes of a host's ranks wait for the other ones. The last one sends all at once, so this is not on the
 * way of a collective: it ends where ranks are at different places, and bounds how late the others learn of that.
 */
const TOGETHER_MS = 10;

export interface CollectiveCallsInit extends Pick<JobPlace, 'node' | 'holds' | 'host' | 'size'> {
  readonly programs: ReadonlyMap<Rank, Program>;
  /** Keys that all ranks can get from now on. */
  onPairs(pairs: MessageBody<'program.agreed'>['pairs']): void;
}

type WireVote = MessageBody<'program.votes'>['votes'][number];

export class CollectiveCalls {
  readonly #init: CollectiveCallsInit;
  readonly #partsBytesMax: number;
  /** Collectives decided so far. */
  #decided = 0;
  /** Whose votes are to be sent, each once: what it has counts against a bound. */
  readonly #unsent = new Set<Program>();
  #number = 0;
  /** Bytes of the parts that were sent for the open collective. */
  #sentBytes = 0;
  /** Until the votes are sent although others of this host are missing. */
  readonly #timers: Timers<'together'>;

  constructor(init: CollectiveCallsInit) {
    this.#init = init;
    this.#timers = new Timers(init.node.platform.clock, init.holds);
    this.#partsBytesMax = collectiveLimits(init.node.params).partsBytesMax;
  }

  get decided(): number {
    return this.#decided;
  }

  vote(program: Program, { kind, flag = true, root = 0, form = 'bytes' }: RequestOf<'vote'>, bytes: Uint8Array): void {
    const { connection, vote } = program;
    if (root >= this.#init.size) {
      return connection?.close(`root ${root} is no rank: the job has ${this.#init.size} ranks, from 0`);
    }
    // A connection that ended left it behind: the next one waits for the same.
    if (vote !== undefined && !program.awaitsVote && vote.kind === kind && vote.root === root) {
      program.awaitsVote = true;
      return;
    }
    if (vote !== undefined && program.awaitsVote) return connection?.close('it voted again before the decision');
    if (vote !== undefined) {
      const reason = `${callText(vote)} of this rank still waits; call it again`;
      const event = this.#refusal(kind, { code: 'STCI_CLIENT_MISMATCH', reason, failed: [], missing: [] });
      return connection?.sendRecord(programRecord(event));
    }
    const [pairs, pairsBytes] = kind === 'exchange' ? program.takePairs() : [[], 0];
    this.#number = (this.#number + 1) >>> 0;
    const length = bytes.length + pairsBytes;
    const sinceMs = this.#init.node.platform.clock.nowMs();
    program.vote = { kind, flag, root, form, pairs, part: bytes, length, number: this.#number, sinceMs };
    program.awaitsVote = true;
    this.#send(program);
  }

  /** What the controller has decided so far, told before any vote here; a decision may have come before. */
  onState(decided: number): void {
    this.#decided = Math.max(this.#decided, decided);
  }

  onRefused({ calls, code, reason, failed, missing }: MessageBody<'program.refused'>): void {
    for (const [rank, number] of calls) {
      const program = this.#init.programs.get(rank);
      const vote = program?.vote;
      if (program === undefined || vote?.number !== number) continue;
      program.vote = undefined;
      program.restorePairs(vote.pairs);
      this.#sentBytes -= Math.min(this.#sentBytes, vote.length);
      this.#answer(program, programRecord(this.#refusal(vote.kind, { code, reason, failed, missing })));
    }
  }

  #refusal(
    kind: CollectiveKind, { code, reason, failed, missing }: Omit<MessageBody<'program.refused'>, 'calls'>,
  ): ProgramEvent {
    const agreed: Agreed = { kind, flag: false, isMismatch: false, ranks: [], joined: [], failed, missing };
    return { type: 'agreed', code: code as ProgramErrorCode, reason, decided: this.decided, agreed, parts: [] };
  }

  onAgreed(decision: MessageBody<'program.agreed'>): void {
    const { kind, flag, isMismatch, ranks, joined, failed, partsTo, parts: wire } = decision;
    this.#decided = Math.max(this.#decided, decision.sequence);
    this.#sentBytes = 0;
    this.#init.onPairs(decision.pairs);
    const agreed: Agreed = {
      kind: COLLECTIVES[kind] as CollectiveKind, flag, isMismatch, ranks, joined, failed, missing: [],
    };
    const parts = wire.map(([rank, form, bytes]): PartHead => [rank, bytes.length, FORMS[form] as Form]);
    const bytes = joinBytes(wire.map((part) => part[2]));
    const { code, reason } = decision as { code: ProgramErrorCode | ''; reason: string };
    const event: ProgramEvent = { type: 'agreed', code, reason, decided: decision.sequence, agreed, parts: [] };
    let whole: Uint8Array | undefined;
    const joins = new Map(ranksInRanges(joined).map((rank, i) => [rank, decision.joins[i]?.[0]]));
    for (const program of this.#init.programs.values()) {
      // What a rank took part in before it was started again does not concern it.
      program.takesPart ||= joins.get(program.rank) === program.attempt;
      if (program.vote === undefined) continue;
      if (program.takesPart && isInRanges(ranks, program.rank)) {
        const isFor = partsTo === undefined || partsTo === program.rank;
        program.vote = undefined;
        program.forgetTaken();
        this.#answer(program, isFor ? (whole ??= programRecord({ ...event, parts }, bytes)) : programRecord(event));
      } else this.#send(program); // As of a rank that was started again, until it takes part.
    }
  }

  #answer(program: Program, record: Uint8Array): void {
    if (program.awaitsVote) program.connection?.sendRecord(record);
    program.awaitsVote = false;
  }

  /** Votes of this host are sent together, if they come together. */
  #send(program: Program): void {
    const { node: { platform: { clock } }, programs } = this.#init;
    this.#unsent.add(program);
    const isLast = [...programs.values()].every(({ vote }) => vote !== undefined);
    if (isLast) clock.soon(() => this.#flush());
    else this.#timers.ensure('together', TOGETHER_MS, () => this.#flush());
  }

  #flush(): void {
    this.#timers.clear('together');
    if (this.#init.holds.isClosed) return;
    const votes = [...this.#unsent].flatMap((program) => this.#wire(program));
    this.#unsent.clear();
    if (votes.length === 0) return;
    const { node, host } = this.#init;
    const sequence = this.#decided + 1;
    node.messages.sendList(CONTROLLER, 'program.votes', votes, (part) => ({ host, sequence, votes: [...part] }));
  }

  /** Without its part where those of this host are too many: the collective fails then. */
  #wire({ rank, vote }: Program): WireVote[] {
    if (vote === undefined) return [];
    const { number, kind, flag, root, form, length, part, pairs } = vote;
    this.#sentBytes += length;
    const fits = this.#sentBytes <= this.#partsBytesMax;
    return [[
      rank, number, COLLECTIVES.indexOf(kind), flag, root, FORMS.indexOf(form), length, fits ? part : NO_BYTES,
      fits ? pairs.map(([key, of, value]) => [key, FORMS.indexOf(of), value] as const) : [],
    ]];
  }
}
