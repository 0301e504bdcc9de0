/** Copies of plugins for a child that has proved nothing yet: what it can make its parent send is bounded. */

import { CONTROLLER, rootAddress, type Channel, type ChannelEvents } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LINK_FRAME, linkFrame } from '../../dist/bootcom/handshake.js';
import { fetchPlugins, servePlugins } from '../../dist/bootcom/plugin-transfer.js';
import { testPlace } from '../world.js';

const CHILD = rootAddress(1);
const ARCHIVE = new Uint8Array(1_000_000).map((_, at) => at % 251);

/** A channel whose reader takes nothing until it is told: sends are kept. */
class Slow implements Channel {
  readonly kind = 'stdio';
  readonly label = 'slow';
  readonly sent: Uint8Array[] = [];
  events: ChannelEvents | undefined;
  destroyed = '';

  get queuedBytes(): number {
    return this.sent.reduce((sum, { length }) => sum + length, 0);
  }

  bind(events: ChannelEvents): void {
    this.events = events;
  }

  send(chunks: readonly Uint8Array[]): boolean {
    this.sent.push(...chunks);
    return this.queuedBytes < 200_000;
  }

  readable(): void {}

  close(): void {}

  destroy(reason: string): void {
    this.destroyed = reason;
  }
}

const ask = (index: number): Uint8Array => linkFrame(LINK_FRAME.pluginAsk, CHILD, new Uint8Array([0, 0, 0, index]));

interface Served {
  readonly channel: Slow;
  /** How often an archive was read. */
  reads: number;
  failed: string;
  isOver: boolean;
}

function serve(count: number, { clock } = testPlace().platform): Served {
  const channel = new Slow();
  const served: Served = { channel, reads: 0, failed: '', isOver: false };
  servePlugins({ channel, clock, self: CONTROLLER, deadlineMs: 1000 }, count, () => {
    served.reads += 1;
    return ARCHIVE;
  }, { onOver: () => (served.isOver = true), onFailed: (text) => (served.failed = text) });
  return served;
}

suite('plugins for a child', (test) => {
  test('no more is queued than the channel has room for, and the next ask comes after all of it', () => {
    const served = serve(3);
    served.channel.events?.onData(ask(0));
    assert.ok(served.channel.queuedBytes < 300_000);
    served.channel.events?.onData(ask(1));
    assert.match(served.failed, /Expected an ask for one of 3 copies/u);
    assert.is(served.reads, 1);
    const { length } = served.channel.sent;
    served.channel.events?.onDrain();
    assert.is(served.channel.sent.length, length);
  });

  test('a copy is sent once, and only one that there is', () => {
    for (const [first, second] of [[0, 0], [0, 7]] as const) {
      const served = serve(2);
      served.channel.events?.onData(ask(first));
      for (let round = 0; round < 20; round += 1) {
        served.channel.sent.length = 0;
        served.channel.events?.onDrain();
      }
      served.channel.events?.onData(ask(second));
      assert.match(served.failed, new RegExp(`got ${second}$`, 'u'));
      assert.is(served.reads, 1);
    }
  });

  test('a child that reads slowly is not given up; one that reads no more is', () => {
    const { platform, run } = testPlace();
    const served = serve(1, platform);
    served.channel.events?.onData(ask(0));
    for (let round = 0; round < 8; round += 1) {
      run(900);
      served.channel.sent.length = 0;
      served.channel.events?.onDrain();
    }
    assert.equal([served.failed, served.channel.destroyed], ['', '']);
    run(1100);
    assert.match(served.failed, /No word about plugins within 1 s/u);
  });

  test('over a channel that is often full, all copies arrive whole', () => {
    const { platform, run } = testPlace();
    const served = serve(2, platform);
    const child = new Slow();
    const { clock } = platform;
    const kept = new Map<number, Uint8Array>();
    let problem: string | undefined;
    const init = { channel: child, clock, self: CHILD, deadlineMs: 1000 };
    fetchPlugins(init, [0, 1], (index, archive) => void kept.set(index, archive), (text) => (problem = text));
    for (let round = 0; round < 100 && problem === undefined; round += 1) {
      for (const chunk of child.sent.splice(0)) served.channel.events?.onData(chunk);
      for (const chunk of served.channel.sent.splice(0)) child.events?.onData(chunk);
      served.channel.events?.onDrain();
      run(1);
    }
    for (const chunk of child.sent.splice(0)) served.channel.events?.onData(chunk);
    assert.equal([problem, served.failed, served.isOver], ['', '', true]);
    assert.equal([...kept.keys()], [0, 1]);
    for (const archive of kept.values()) assert.is(Buffer.compare(archive, ARCHIVE), 0);
  });
});
