/**
 * Connection to the parent's listener: tries its addresses in turn, each for a part of the handshake's deadline, and
 * all of them again after a delay, until the deadline: a parent whose listener is flooded may have evicted this
 * connection. Trying again is safe: the link is up here only when the parent has confirmed it, so nothing was sent over
 * one that is lost before; and a parent that had taken it as up, and has lost it, refuses the next.
 */

import type { Channel, LinkCloseReason, Platform, Timer } from '@stci/interface';
import type { BootRecord } from '../bootcom/boot-record.js';
import { keyFor } from '../bootcom/encryption.js';
import { Link, type LinkEvents, type LinkLimits } from '../bootcom/link.js';
import { Backoff, type BackoffBounds } from '../event/backoff.js';

/** Delay before the second round through all addresses, ms; it doubles with each round, up to the longest. */
const WAIT: BackoffBounds = { firstMs: 50, maxMs: 400 };

export interface ParentConnectionInit {
  readonly platform: Platform;
  readonly boot: BootRecord;
  /** Best first. */
  readonly addresses: readonly string[];
  /** For addresses that encrypt. */
  readonly key: Uint8Array | undefined;
  connect(address: string, deadlineMs: number, key?: Uint8Array): Channel;
  limits(handshakeMs: number, channel: Channel): LinkLimits;
}

export interface ParentConnectionEvents {
  /** Events of the link once it is up. */
  readonly link: LinkEvents;
  /** No address led to the parent; called at most once. */
  onFailed(text: string): void;
}

export class ParentConnection {
  readonly #init: ParentConnectionInit;
  readonly #events: ParentConnectionEvents;
  readonly #deadlineMs: number;
  #link: Link | undefined;
  #timer: Timer | undefined;
  readonly #backoff: Backoff;
  #tried: string[] = [];
  #lost = false;
  #over = false;

  constructor(init: ParentConnectionInit, events: ParentConnectionEvents) {
    const { platform, boot } = init;
    this.#init = init;
    this.#events = events;
    this.#backoff = new Backoff(WAIT, platform.random);
    this.#deadlineMs = platform.clock.nowMs() + boot.handshakeMs;
    this.#attempt(0);
  }

  /** Gives up, or closes the link if it is up. */
  destroy(text: string): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#link?.destroy(text);
  }

  #attempt(index: number): void {
    const { platform, boot, addresses } = this.#init;
    const { self, job, session, secret, start, parent, frameBytesMax, handshakeMs } = boot;
    const address = addresses[index];
    if (address === undefined) return this.#roundOver();
    const leftMs = this.#deadlineMs - platform.clock.nowMs();
    const shareMs = Math.max(1, Math.floor(Math.min(leftMs, handshakeMs / addresses.length)));
    const admit = (peer: number): string | undefined => (peer === parent ? undefined : 'it is not the parent');
    const channel = this.#init.connect(address, shareMs, keyFor(address, this.#init.key));
    let linked = false;
    this.#link = new Link(
      {
        role: 'parent',
        channel,
        clock: platform.clock,
        handshake: {
          role: 'connect', self, job, session, secret, start, secrets: platform.secrets, admit, isConfirmed: true,
        },
        limits: { ...this.#init.limits(shareMs, channel), frameBytesMax },
      },
      {
        ...this.#events.link,
        onUp: (link) => {
          linked = true;
          this.#events.link.onUp(link);
        },
        onClosed: (link, reason, text) => {
          if (linked) this.#events.link.onClosed(link, reason, text);
          else this.#failed(index, reason, `${channel.label}: ${text}`);
        },
      },
    );
  }

  #failed(index: number, reason: LinkCloseReason, text: string): void {
    if (this.#over) return;
    this.#lost ||= reason === 'lost';
    this.#tried.push(text);
    this.#attempt(index + 1);
  }

  /** A peer that refused this agent will do so again; a connection that was lost may succeed the next time. */
  #roundOver(): void {
    const { platform, addresses } = this.#init;
    const waitMs = this.#backoff.nextMs();
    const leftMs = this.#deadlineMs - platform.clock.nowMs() - waitMs;
    if (!this.#lost || leftMs < addresses.length) {
      this.#over = true;
      return this.#events.onFailed(this.#tried.join('; ') || 'it named no address');
    }
    this.#lost = false;
    this.#tried = [];
    this.#timer = platform.clock.after(waitMs, () => this.#attempt(0));
  }
}
