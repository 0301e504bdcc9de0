/** One agent of the model of a network: its detector, and what it does not hear or do meanwhile. */

import type { Detector, DetectorEvent, MemberId } from '@stci/interface';
import { Told } from './detector-news.js';

export class ModelAgent {
  member: MemberId;
  detector: Detector;
  isAlive = true;
  isStarted = false;
  /** It is not there yet: messages wait for its start. */
  isAway = false;
  frozenSinceMs: number | undefined;
  frozenUntilMs = 0;
  /** Times in which it stood still, which are over. */
  readonly standstills: { readonly sinceMs: number; readonly untilMs: number }[] = [];
  readonly told = new Told();
  /** What arrived while it stood still, or before it was there. */
  readonly waiting: DetectorEvent[] = [];
  timerMs: number | undefined;

  constructor(member: MemberId, detector: Detector) {
    this.member = member;
    this.detector = detector;
  }
}
