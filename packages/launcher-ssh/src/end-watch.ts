/**
 * Tells whether the program on the host has ended or only the connection to it. ssh ends with the program's status; for
 * one that a signal ended it has none and ends with 255, as it does where the connection is lost. Then its own lines
 * decide: it counts the bytes of a connection that was closed in order, and names the cause of any other end. In doubt
 * it is the connection.
 */

import type { AgentProcessEnd, ProcessEnd } from '@stci/interface';

/** Status of ssh itself. */
const OWN_STATUS = 255;
const ORDERLY = /^Transferred: sent /;
const LOST = new RegExp('closed by remote host|Connection (reset|timed out|closed)|Broken pipe|Read from remote host'
  + '|not responding|[Dd]isconnect|Corrupted MAC|mux_client', 'u');

export class EndWatch {
  #isOrderly = false;
  #isLost = false;

  onLine(line: string): void {
    if (ORDERLY.test(line)) this.#isOrderly = true;
    else if (LOST.test(line)) this.#isLost = true;
  }

  /** Evidence of the end: to be asked for when all lines have been read. */
  evidenceOf({ status, signal }: ProcessEnd): AgentProcessEnd['evidence'] {
    if (signal !== undefined) return 'connection';
    return status !== OWN_STATUS || (this.#isOrderly && !this.#isLost) ? 'process' : 'connection';
  }
}
