/**
 * The secret crosses no channel, an agent's key one: in its boot record; no other data contains it. Checks all bytes of
 * all agents of a simulated job.
 */

import { roleFactory, runAgent } from '@stci/core';
import { createFrontEnd } from '@stci/core/controller';
import type { Channel, ChannelEvents, JobReport, Platform } from '@stci/interface';
import { createWorld } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { SECRET_BYTES, SESSION_BYTES } from '../../dist/bootcom/handshake.js';
import { HEADER_BYTES } from '../../dist/codec/frame.js';
import { resolved, composition } from '../assembly.js';

const HOSTS = 7;

interface Tapped {
  readonly heard: Uint8Array[];
  readonly said: Uint8Array[];
}

function tap(channel: Channel, to: Tapped): Channel {
  return {
    kind: channel.kind,
    label: channel.label,
    get queuedBytes() {
      return channel.queuedBytes;
    },
    bind: (events: ChannelEvents) => channel.bind({
      onData: (chunk) => {
        to.heard.push(chunk.slice());
        events.onData(chunk);
      },
      onDrain: () => events.onDrain(),
      onClose: (reason) => events.onClose(reason),
    }),
    send: (chunks) => {
      to.said.push(...chunks.map((chunk) => chunk.slice()));
      return channel.send(chunks);
    },
    readable: (on) => channel.readable(on),
    close: () => channel.close(),
    destroy: (reason) => channel.destroy(reason),
  };
}

function count(chunks: readonly Uint8Array[], needle: Uint8Array): number {
  const bytes = Buffer.concat(chunks);
  let found = 0;
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) found += 1;
  return found;
}

function play(boot: string): { secret: Uint8Array; taps: Tapped[]; sockets: Tapped[]; report: JobReport } {
  const world = createWorld({ seed: 4 });
  const [taps, sockets]: [Tapped[], Tapped[]] = [[], []];
  const add = (list: Tapped[]): Tapped => {
    list.push({ heard: [], said: [] });
    return list[list.length - 1] as Tapped;
  };
  world.program('stci-agent', ({ platform, channel, exit }) => {
    const network: Platform['network'] = {
      listen: (...args) => platform.network.listen(...args),
      listenPrivate: (...args) => platform.network.listenPrivate(...args),
      listenLoopback: (...args) => platform.network.listenLoopback(...args),
      connectPrivate: (...args) => tap(platform.network.connectPrivate(...args), add(sockets)),
      connect: (...args) => tap(platform.network.connect(...args), add(sockets)),
    };
    runAgent({
      platform: { ...platform, network },
      channel: tap(channel, add(taps)),
      load: (done) => done(roleFactory(composition)),
      exit: ({ failed }) => exit(failed ? 1 : 0),
    });
  });
  const { params, snapshot } = resolved({
    launcherproc: 'local', 'launcher.tree.arity': '2', 'launcher.session.method': 'process', 'bootcom.boot': boot,
  });
  let secret: Uint8Array | undefined;
  let report: JobReport | undefined;
  world.start('login', ['stcirun'], ({ platform, exit }) => {
    const bytes = (length: number): Uint8Array => {
      const made = platform.secrets.bytes(length);
      if (length === SECRET_BYTES) secret = made;
      return made;
    };
    const spied = { ...platform, secrets: { ...platform.secrets, bytes } };
    const host = (_: unknown, i: number) => ({ name: `h${i}`, slots: 4, slotsBound: false, origin: 'test' });
    const allocation = { hosts: Array.from({ length: HOSTS }, host), spares: [] };
    const frontEnd = createFrontEnd({ platform: spied, composition, params, snapshot, allocation }, {
      onJobEvent: (event) => {
        if (event.type !== 'ended') return;
        report = event.report;
        frontEnd.stop();
      },
      onOutput: (_rank, _stream, _chunk, _wallMs, release) => release(),
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onStopped: () => exit(0),
    });
    frontEnd.submit({
      apps: [{ program: 'echo', args: ['hello'], count: HOSTS, env: {} }],
      mapBy: { by: 'node' }, oversubscribe: true, env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' },
      launchTimeoutMs: 30_000,
    });
  });
  world.run({ untilMs: 60_000, maxEvents: 2_000_000 });
  return { secret: secret as unknown as Uint8Array, taps, sockets, report: report as unknown as JobReport };
}

/** Place of the key in a boot record. */
const KEY_AT = HEADER_BYTES + SESSION_BYTES;

suite('the secret on its way', (test) => {
  for (const boot of ['native', 'ws']) {
    test(`${boot} links: it stays with the controller; an agent gets its own key, once, and never says it`, () => {
      const { secret, taps, sockets, report } = play(boot);
      assert.is(report.exitCode, 0);
      assert.equal([taps.length, sockets.length > 0], [2 * HOSTS, boot === 'ws'], 'root and session agents');
      const keys = taps.map(({ heard: [record = new Uint8Array()] }) => record.slice(KEY_AT, KEY_AT + SECRET_BYTES));
      const heardBy = (key: Uint8Array): number[] => taps.map(({ heard }) => count(heard, key));
      for (const [i, key] of keys.entries()) assert.equal(heardBy(key), taps.map((_, j) => (i === j ? 1 : 0)));
      const open = [...taps.flatMap(({ said }) => said), ...sockets.flatMap(({ heard, said }) => [...heard, ...said])];
      assert.equal([secret, ...keys].map((key) => count(open, key)), [0, ...keys.map(() => 0)]);
      assert.is(Math.max(...heardBy(secret)), 0);
    });
  }
});
