/** What a detector promises, and an example of it: agents, and what happens to them. */

import type { Position } from '@stci/interface';
import type { Contract, Example } from '../kit/counterexample.js';

/** As in the docstring of `DetectorModule`. */
export const DETECTOR = {
  framework: 'detector',
  again: 'detectorExample',
  more: 'cases',
  promises: {
    record: 'The registry takes it; version, help, parameters and metrics can be shown; it runs where it is named.',
    promise: 'What it promises is an interval, costs that are numbers, and a sentence; one agent alone sends nothing.',
    quiet: 'While nobody dies, nobody is reported, and it costs no more than promised.',
    interval: 'A death is suspected and reported when promised; nothing else is reported, nor twice by one agent.',
    several: 'Several deaths are reported, all of them, and nothing else is; nothing is sent to the dead later.',
    standstill: 'An agent that stood still accuses nobody, and is not reported itself if that was short.',
    joined: 'One that joins at a new position is not reported while it lives, and its death is.',
    left: 'One that has left alive is not reported, and the deaths of others are.',
    refuted: 'One that was reported and lives, as the controller says, is watched again: its death is reported.',
    links: 'Links that end with a goodbye, or come back at once, leave nobody suspected, and cost nothing later.',
    restart: 'Who comes back is not reported for what was before, and its next death is.',
    strange: 'Strange messages and events of strangers change nothing, and nothing is thrown.',
    metrics: 'It counts the metrics that it declares and no others; misses only where somebody is silent.',
    same: 'The same seed gives the same run, whatever others do meanwhile, and when.',
    sockets: 'On real sockets, under the failure watch of agents, all are told of a death, and of nothing else.',
  },
} as const satisfies Contract<string>;

export type DetectorPromiseName = keyof typeof DETECTOR.promises;

/** A counter-example: agents, and what happens to them. Times begin when everything is under way, ms. */
export interface DetectorExample extends Example<DetectorPromiseName> {
  /** Label of the case. */
  readonly case?: string;
  /** Number of agents. */
  readonly size?: number;
  /** For how long each message takes. Of `metrics`, absent: all seeds of the case. */
  readonly seed?: number;
  readonly deaths?: readonly { readonly position: Position; readonly atMs: number }[];
  /** Of `standstill`: so long it neither sends nor receives. */
  readonly pause?: { readonly position: Position; readonly atMs: number; readonly forMs: number };
  /** Of `restart`: so long after its death it comes back. */
  readonly downMs?: number;
  /** Besides those of the case. */
  readonly params?: Readonly<Record<string, string>>;
  /** Of `interval`: they die as all start, and nothing was heard of them. */
  readonly isFirst?: boolean;
  /** Of `left`: it leaves when everything is under way; all are told before they start; or these have left before. */
  readonly leaves?: Position;
  readonly leftEarly?: Position;
  readonly absent?: readonly Position[];
  /** What the clock shows at the start; default: 0. */
  readonly clockMs?: number;
  /** Of `strange`: one of the messages, as text. Absent: all of them, and events of strangers. */
  readonly body?: string;
}
