/**
 * The machine of fault `network`: the rules are tried, the controller is told, the rules are made. It is told before,
 * since the way to it may be the one that is cut; tried before that, so that no host reports what it cannot do.
 */

import type { FaultAction, FaultEvent, FaultMachine } from '@stci/interface';
import { GONE, TABLES_MAX, TAKEN } from './network-rules.js';

export interface NetworkPlan {
  /** For the table of this number. */
  inject(index: number): string;
  remove(index: number): string;
  /** What is done to the host: at the report, and where it cannot be done. */
  readonly text: string;
  /** Not where the controller is. */
  readonly apartFrom: string;
}

type State = 'new' | 'trying' | 'telling' | 'making' | 'made' | 'removing' | 'over';

export class NetworkMachine implements FaultMachine {
  readonly dueMs = undefined;
  readonly #plan: NetworkPlan;
  #state: State = 'new';
  #index = 0;
  /** While the rules are being tried, told or made. */
  #isUnwanted = false;

  constructor(plan: NetworkPlan) {
    this.#plan = plan;
  }

  on(event: FaultEvent): readonly FaultAction[] {
    switch (event.type) {
      case 'inject':
        return this.#try();
      case 'undo':
      case 'tear-down':
        return this.#end(event.type);
      case 'done':
        return this.#onDone(event.problem);
      default:
        return [];
    }
  }

  #try(): FaultAction[] {
    this.#state = 'trying';
    return [this.#run('try', '--check', this.#plan.inject(this.#index))];
  }

  #onDone(problem: string | undefined): FaultAction[] {
    switch (this.#state) {
      case 'trying':
        return this.#onTried(problem);
      case 'telling':
        return this.#make();
      case 'making':
        if (problem !== undefined) return this.#fail(problem);
        this.#state = 'made';
        return this.#isUnwanted ? this.#end('undo') : [];
      case 'removing':
        this.#state = 'over';
        // The rule's time was over in the kernel, and another fault has the table.
        if (problem === undefined || problem.includes(GONE)) return [{ type: 'undone' }];
        return [{ type: 'failed', reason: `it goes on for as long as was ordered: ${problem}` }];
      default:
        return [];
    }
  }

  #onTried(problem: string | undefined): FaultAction[] {
    if (this.#isUnwanted) return this.#giveUp();
    if (problem?.includes(TAKEN) === true && ++this.#index < TABLES_MAX) return this.#try();
    if (problem !== undefined) return this.#fail(problem);
    this.#state = 'telling';
    return [{ type: 'injected', text: this.#plan.text, key: 'tell' }];
  }

  #make(): FaultAction[] {
    if (this.#isUnwanted) return this.#giveUp();
    this.#state = 'making';
    return [this.#run('make', this.#plan.inject(this.#index))];
  }

  #giveUp(): FaultAction[] {
    this.#state = 'over';
    return [{ type: 'undone' }];
  }

  #fail(problem: string): FaultAction[] {
    this.#state = 'over';
    const why = problem.includes(TAKEN) ? `${TABLES_MAX} such faults last there, the most there may be` : problem;
    return [{ type: 'failed', reason: `it cannot be made that ${this.#plan.text}: ${why}` }];
  }

  #end(by: 'undo' | 'tear-down'): FaultAction[] {
    switch (this.#state) {
      case 'made':
        this.#state = 'removing';
        return [this.#run('remove', this.#plan.remove(this.#index))];
      case 'trying':
      case 'telling':
      case 'making':
        this.#isUnwanted = true;
        return [];
      case 'removing':
        return [];
      default:
        this.#state = 'over';
        return by === 'undo' ? [{ type: 'undone' }] : [];
    }
  }

  #run(key: string, ...args: readonly string[]): FaultAction {
    return { type: 'run', key, program: 'nft', args, apartFrom: this.#plan.apartFrom };
  }
}
