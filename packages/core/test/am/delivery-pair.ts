/** Two agents with delivery between them, over routes that a seed cuts, delays and repeats; for tests. */

import { StciError, rootAddress, sessionAddress, type Address } from '@stci/interface';
import { assert, type IntegerSource } from '@stci/testkit';
import { DeliveryLayer } from '../../dist/am/delivery-layer.js';
import {
  LAYER, encodeHeader, frameBody, frameLayer, readU32, spendHop, writeU32, type Frame,
} from '../../dist/codec/frame.js';
import type { Link } from '../../dist/bootcom/link.js';
import { Scope } from '../../dist/event/scope.js';
import { testPlace } from '../world.js';

export const [NEAR, FAR] = [rootAddress(1), sessionAddress(2)];
export const WINDOW = 64 * 1024;
export const header = {
  layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source: NEAR, destination: FAR, job: 3, sequence: 0,
};

export const NO_LINK = {} as Link;

/** Two agents with delivery, and routes between them that lose, delay and repeat frames. */
export class Pair {
  readonly place = testPlace();
  readonly layers = new Map<Address, DeliveryLayer>();
  readonly got: number[] = [];
  frames = 0;
  keptMax = 0;
  #delayMs = 1;
  #route = 0;
  #isCut = false;
  sent = 0;

  readonly next: IntegerSource;

  constructor(next: IntegerSource, resendBytes?: number) {
    this.next = next;
    for (const self of [NEAR, FAR]) {
      const forward = (_to: Address, _job: number, pieces: readonly Uint8Array[]): boolean => {
        if (!this.#isCut) this.#carry(self, pieces);
        return !this.#isCut;
      };
      const router = { self, job: self === FAR ? 3 : 0, forward };
      const layer = new DeliveryLayer({
        router: router as never, clock: this.place.platform.clock, holds: new Scope('agent'), incarnation: 1, ttl: 9,
        windowBytes: WINDOW, resendBytes, onUndeliverable: () => undefined,
      });
      this.layers.set(self, layer);
    }
  }

  layer(self: Address): DeliveryLayer {
    return this.layers.get(self) as DeliveryLayer;
  }

  /** Returns false if the window is full. */
  send(bytes: number): boolean {
    const body = new Uint8Array(4 + bytes);
    writeU32(body, 0, this.sent);
    try {
      this.layer(NEAR).send(header, [encodeHeader(header, body.length), body]);
    } catch (fault) {
      assert.is((fault as StciError).code, 'STCI_MESSAGE_WINDOW');
      return false;
    }
    this.sent += 1;
    this.keptMax = Math.max(this.keptMax, this.layer(NEAR).keptBytes);
    return true;
  }

  /** What is on the old route arrives late, twice, or never. */
  changeRoute(): void {
    this.#route += 1;
    this.#delayMs = 1 + this.next(300);
    this.#isCut = this.next(3) === 0;
    if (!this.#isCut && this.next(2) === 0) for (const layer of this.layers.values()) layer.resend(() => true);
  }

  cut(): void {
    this.#isCut = true;
  }

  heal(): void {
    this.#isCut = false;
  }

  #carry(from: Address, pieces: readonly Uint8Array[]): boolean {
    const route = this.#route;
    const frame = Buffer.concat(pieces);
    const to = from === NEAR ? FAR : NEAR;
    const arrive = (): void => this.#arrive(to, new Uint8Array(frame));
    this.frames += 1;
    this.place.platform.clock.after(this.#delayMs, () => {
      const isOld = route !== this.#route;
      if (isOld && this.next(2) === 0) return;
      arrive();
      if (isOld && this.next(4) === 0) this.place.platform.clock.after(this.next(50), arrive);
    });
    return true;
  }

  #arrive(at: Address, frame: Frame): void {
    assert.ok(spendHop(frame));
    if (frameLayer(frame) === LAYER.delivery) this.layer(at).onFrame(frame);
    else if (this.layer(at).accepts(frame, NO_LINK)) this.#take(this.layer(at), frame);
  }

  #take(layer: DeliveryLayer, frame: Frame): void {
    this.got.push(readU32(frameBody(frame), 0));
    const next = layer.next(frame);
    if (next !== undefined && layer.accepts(next.frame, next.from)) this.#take(layer, next.frame);
  }
}
