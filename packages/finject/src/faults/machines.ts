/** Machines that several kinds of faults share. Pure. */

import type { FaultAction, FaultEvent, FaultMachine } from '@stci/interface';

type Keyed = Exclude<FaultAction, { readonly type: 'injected' | 'undone' | 'failed' }>;

export interface OneAction {
  readonly inject: Keyed;
  /** Absent: nothing is left to undo. */
  readonly undo?: Keyed | undefined;
  /** What was done, once it was. */
  readonly text: string;
}

/** A machine that is in force when its action is done, undone when the other one is. */
export function oneAction({ inject, undo, text }: OneAction): FaultMachine {
  let isUndoing = false;
  const on = (event: FaultEvent): readonly FaultAction[] => {
    switch (event.type) {
      case 'inject':
        return [inject];
      case 'undo':
        isUndoing = true;
        return [undo ?? { type: 'undone' }];
      case 'done':
        return onDone(event);
      default:
        return [];
    }
  };
  const onDone = ({ key, problem }: Extract<FaultEvent, { readonly type: 'done' }>): readonly FaultAction[] => {
    // A victim that is gone needs no undoing.
    if (isUndoing) return key === undo?.key ? [{ type: 'undone' }] : [];
    if (key !== inject.key) return [];
    return [problem === undefined ? { type: 'injected', text } : { type: 'failed', reason: problem }];
  };
  return { dueMs: undefined, on };
}

/** Told before it is done: afterwards, this agent may be unable to. */
export function lastAction(inject: Keyed, text: string): FaultMachine {
  return {
    dueMs: undefined,
    on: (event) => {
      if (event.type === 'inject') return [{ type: 'injected', text }, inject];
      if (event.type === 'done' && event.problem !== undefined) return [{ type: 'failed', reason: event.problem }];
      return event.type === 'undo' ? [{ type: 'undone' }] : [];
    },
  };
}
