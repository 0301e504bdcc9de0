/**
 * Stage of a channel: frames that are read before what the channel is for begins, such as the boot record. The channel
 * goes on as another one, which first delivers what came after the last frame of the stage.
 */

import { StciError, type Channel, type ChannelEvents, type Clock, type Timer } from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { afterRunning } from '../event/running-timer.js';
import { FrameDecoder } from '../codec/frame-decoder.js';
import type { Frame } from '../codec/frame.js';

export interface StageInit {
  readonly channel: Channel;
  readonly clock: Clock;
  readonly bodyBytesMax: number;
  /** Longest wait for each frame, or for room for what is sent, ms. */
  readonly deadlineMs: number;
  /** What is awaited, for messages: `boot record`. */
  readonly what: string;
  /** Who is at the other end. */
  readonly peer: 'parent' | 'agent';
}

export interface StageEvents {
  /** Returns true for the last frame. Throws StciError for one that is not expected here. */
  onFrame(frame: Frame): boolean;
  /** There is room again for what is sent during the stage. */
  onDrain?(): void;
  /** After the last frame. */
  onOver(rest: Channel): void;
  /** No last frame came: the channel is closed. */
  onFailed(error: StciError): void;
}

export function openStage(init: StageInit, events: StageEvents): void {
  new ChannelStage(init, events).start();
}

class ChannelStage {
  readonly #init: StageInit;
  readonly #events: StageEvents;
  readonly #decoder: FrameDecoder;
  #timer: Timer | undefined;
  #next: ChannelEvents | undefined;
  #backlog: Uint8Array[] = [];
  #closeReason: string | undefined;
  #state: 'open' | 'over' | 'failed' = 'open';

  constructor(init: StageInit, events: StageEvents) {
    this.#init = init;
    this.#events = events;
    this.#decoder = new FrameDecoder(init.bodyBytesMax, (frame) => this.#onFrame(frame));
    this.#arm();
  }

  start(): void {
    this.#init.channel.bind({
      onData: (chunk) => this.#onData(chunk),
      onDrain: () => this.#onDrain(),
      onClose: (reason) => this.#onClose(reason),
    });
  }

  #arm(): void {
    const { clock, deadlineMs, what } = this.#init;
    this.#timer?.cancel();
    this.#timer = afterRunning(clock, deadlineMs, () =>
      this.#fail(new StciError('STCI_AUTH_TIMEOUT', `No ${what} within ${formatDuration(deadlineMs)}`)),
    );
  }

  #onFrame(frame: Frame): void {
    if (!this.#events.onFrame(frame)) return this.#arm();
    this.#state = 'over';
    this.#decoder.stop();
  }

  #onData(chunk: Uint8Array): void {
    if (this.#next !== undefined) return this.#next.onData(chunk);
    if (this.#state === 'over') return void this.#backlog.push(chunk);
    if (this.#state === 'failed') return;
    try {
      this.#decoder.push(chunk);
    } catch (fault) {
      return this.#fail(fault instanceof StciError ? fault : new StciError('STCI_INTERNAL', String(fault)));
    }
    if ((this.#state as string) === 'over') this.#finish();
  }

  #onDrain(): void {
    if (this.#next !== undefined) this.#next.onDrain();
    else if (this.#state === 'open') {
      // What is sent in a stage is bounded; the other end, which reads it, is not silent.
      this.#arm();
      this.#events.onDrain?.();
    }
  }

  #finish(): void {
    this.#timer?.cancel();
    const rest = this.#decoder.takeRest();
    if (rest !== undefined) this.#backlog.push(rest);
    this.#events.onOver(this.#resumed());
  }

  #onClose(reason: string): void {
    if (this.#next !== undefined) return this.#next.onClose(reason);
    this.#closeReason = reason;
    if (this.#state !== 'open') return;
    const { what, peer } = this.#init;
    this.#fail(new StciError('STCI_LINK_CLOSED', `${reason} before the ${what}: the ${peer} is gone`));
  }

  #fail(error: StciError): void {
    if (this.#state !== 'open') return;
    this.#state = 'failed';
    this.#timer?.cancel();
    this.#init.channel.destroy(error.message);
    this.#events.onFailed(error);
  }

  /** The same channel, for another receiver. */
  #resumed(): Channel {
    const { channel } = this.#init;
    return {
      kind: channel.kind,
      label: channel.label,
      get queuedBytes() {
        return channel.queuedBytes;
      },
      bind: (events) => this.#rebind(events),
      send: (chunks) => channel.send(chunks),
      readable: (on) => channel.readable(on),
      close: () => channel.close(),
      destroy: (reason) => channel.destroy(reason),
    };
  }

  /** Delivered in a later turn, as `Channel.bind` promises; until then all data goes to the backlog. */
  #rebind(events: ChannelEvents): void {
    this.#init.clock.soon(() => {
      this.#next = events;
      for (const chunk of this.#backlog) events.onData(chunk);
      this.#backlog = [];
      if (this.#closeReason !== undefined) events.onClose(this.#closeReason);
    });
  }
}
