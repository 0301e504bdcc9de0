/**
 * Processors of the ranks of one job on this host, which decides of them by itself: each host has its own. A rank
 * keeps what it has through its attempts here; one that comes from another host is bound anew, where something is left.
 */

import {
  caught, toErrorRecord, type Environment, type ErrorRecord, type Params, type Placement,
} from '@stci/interface';
import { HostBinding, ruleOf, wishOf, type RankBinding } from '../binding/plan.js';
import { readTopology } from '../binding/topology.js';

export class BoundRanks {
  /** Why none can be started. */
  readonly error: ErrorRecord | undefined;
  readonly #host: HostBinding | undefined;
  readonly #hostName: string;
  readonly #isReported: boolean;

  constructor(env: Pick<Environment, 'systemText'>, params: Params, hostName: string, ranks: number) {
    this.#hostName = hostName;
    this.#isReported = params.bool('binding.report');
    const make = (): readonly [HostBinding | undefined, ErrorRecord?] => {
      const rule = ruleOf(wishOf(params));
      if (rule.to === 'none') return [undefined];
      return [new HostBinding(readTopology((path) => env.systemText(path)), rule, ranks, hostName)];
    };
    [this.#host, this.error] = caught(make, (error) => [undefined, toErrorRecord(error)]);
  }

  /** undefined: it is not bound. */
  of(placement: Placement | undefined): RankBinding | undefined {
    return placement === undefined ? undefined : this.#host?.of(placement.localRank);
  }

  /** The line for --report-bindings; undefined: none is wanted. */
  report(placement: Placement): Uint8Array | undefined {
    if (!this.#isReported) return undefined;
    const binding = this.of(placement);
    const text = binding === undefined ? 'is not bound' : `bound to ${binding.report}`;
    const line = `[${this.#hostName}] rank ${placement.rank} ${text}\n`;
    return Uint8Array.from(line, (character) => character.charCodeAt(0));
  }
}
