/** What a notifier promises, and an example of it: agents, a source, and who fails. */

import type { Position } from '@stci/interface';
import type { Contract, Example } from '../kit/counterexample.js';

/** As in the docstring of `NotifierModule`. */
export const NOTIFIER = {
  framework: 'notifier',
  again: 'notifierExample',
  more: 'options',
  promises: {
    record: 'The registry takes it; version, help and parameters can be shown; `query` depends on its input only.',
    promise: 'Its figures are numbers, not all agents may fail, and its text is sentences.',
    quiet: 'While nobody fails, each other agent is told once, in time, with no more messages than promised.',
    failures: 'So it is while agents are dead that nobody knows of, as many as it tolerates.',
    uniform: 'If it says so, all survivors are told, or none, though agents die meanwhile, the source too.',
    gone: 'Nothing is sent to the dead that it knows, and all others are told.',
    joined: 'Agents that join, later or again, are told, and tell all.',
    incarnation: 'The next incarnation of an agent begins anew, and what the last one has sent still counts.',
    repeated: 'Many broadcasts at a time are told once each; messages that come again change nothing.',
    payload: 'Any payload is delivered, an empty and the largest one, too; a larger one is refused by an assertion.',
    malformed: 'A malformed message is refused with STCI_MESSAGE_INVALID, and changes nothing.',
    same: 'The same events lead to the same actions, whatever others do meanwhile, and when.',
  },
} as const satisfies Contract<string>;

export type NotifierPromiseName = keyof typeof NOTIFIER.promises;

/** A counter-example: agents, a source, and who fails. */
export interface NotifierExample extends Example<NotifierPromiseName> {
  /** Number of agents. */
  readonly size?: number;
  /** For how long each message takes. */
  readonly seed?: number;
  readonly source?: Position;
  /** Of the component, as a user sets them; default: none. */
  readonly params?: Readonly<Record<string, string>>;
  /** `sends`: it dies after so many messages; 0: it is dead. `isKnown`: all know it. */
  readonly failures?: readonly Failing[];
  /** Of `gone`: the positions at which there are agents; default: all. */
  readonly present?: readonly Position[];
  /** Of `promise`: so many agents fail. */
  readonly failing?: number;
  /** Of `joined`: so many join. */
  readonly joins?: number;
  /** Of `repeated`: broadcasts of each agent at a time; of `joined`: before. */
  readonly rounds?: number;
  /** Of `repeated`: so often, one batch after the other. */
  readonly batches?: number;
}

export interface Failing {
  readonly position: Position;
  readonly sends: number;
  readonly isKnown?: true;
  /** The member has left before the start. */
  readonly isAbsent?: true;
}
