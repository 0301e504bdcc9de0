/** An agent of two ranks, of a job of three, with libraries that speak with it, and with what it asks of others. */

import type { Channel, ChannelEvents, Clock } from '@stci/interface';
import {
  PmixClientEnd, encodeHello, encodeRequest, fromByteText, toByteText, type PmixFrame,
  type PmixRequest, type PmixValue, Unpacker,
} from '@stci/pmi';
import { assert } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { checkBody } from '../../dist/messages/messages.js';
import '../../dist/pmi/messages.js';
import { PmiHost } from '../../dist/pmi/pmi-host.js';
import { openPmi1 } from '../../dist/pmi/pmi1-server.js';
import { openPmix } from '../../dist/pmix/pmix-connection.js';
import type { JobPlace } from '../../dist/service/contracts.js';

export const FORM = 1;
export const SET = {
  nspace: 'secret', job: 1, first: 0, size: 3, universe: 3, hosts: [[0, 'here', [[0, 1]]], [1, 'there', [[2, 2]]]],
  apps: [[0, 3]],
} as const;

type Asked = readonly [name: string, body: Record<string, unknown>, done: (error: unknown, reply: unknown) => void];

/** Of ranks 0 and 1; rank 2 is at host 1. What it tells others is checked as they do. */
export function agent(policy = 'notify', isTolerant = true) {
  const asked: Asked[] = [];
  const said: string[] = [];
  const malformed: string[] = [];
  const note = (name: string, body: unknown, done: Asked[2] = () => undefined): undefined => {
    try {
      checkBody(name as 'pmi.abort', body);
    } catch (fault) {
      malformed.push(`${name}: ${(fault as Error).message}`);
    }
    asked.push([name, body as Asked[1], done]);
  };
  const timers = new Set<() => void>();
  const after = (_ms: number, fire: () => void) => {
    timers.add(fire);
    return { cancel: () => void timers.delete(fire) };
  };
  const clock = { wallMs: () => 0, after, soon: (fire: () => void) => fire() } as unknown as Clock;
  const removed: string[] = [];
  const files = {
    makeDirectory: () => '/tmp/x', removeDirectory: (path: string) => void removed.push(path),
    removeNamed: (paths: readonly string[]) => void removed.push(...paths), removeUnused: () => void removed.push('*'),
  };
  const holds = new Scope('job');
  const signals: number[] = [];
  const place = {
    node: {
      messages: {
        send: (_to: number, name: string, body: unknown) => note(name, body),
        request: (_to: number, name: string, body: unknown, done: Asked[2]) => note(name, body, done),
      },
      platform: {
        clock, files, env: { hostname: 'here', systemText: () => undefined }, log: { write: () => undefined },
        processes: { shareMemory: () => undefined },
      },
    },
    holds, host: 0, hostName: 'here', job: 1, size: 3, hosts: 2,
    params: { list: () => [policy] },
    say: (rank: number, bytes: Uint8Array) => said.push(`${rank}: ${toByteText(bytes)}`),
    signal: (rank: number) => void signals.push(rank), bindingOf: () => undefined, spawnOf: () => undefined,
  } as unknown as JobPlace;
  const host = new PmiHost(place, isTolerant);
  host.add(0);
  host.add(1);
  const [pmi1, pmix] = [openPmi1(host), openPmix(host)];
  /** The first request of this name that is not answered. */
  const take = (name: string): Asked => {
    const at = asked.findIndex(([own]) => own === name);
    assert.ok(at >= 0, `${name} among ${asked.map(([own]) => own).join()}`);
    return asked.splice(at, 1)[0] as Asked;
  };
  return {
    host, asked, said, malformed, take, removed, signals, holds, timers,
    prepare: () => pmix.prepare(),
    open: () => take('pmi.open')[2](undefined, { sets: [SET], lost: [] }),
    line: (rank: number) => connect((channel) => pmi1.accept(channel, rank)),
    socket: () => connect((channel) => pmix.accept(channel, undefined)),
  };
}

/** A connection of a client, which reads what it gets unless `isSlow`. */
function connect(accept: (channel: Channel) => ChannelEvents) {
  const line = { bytes: [] as Uint8Array[], closed: '', isReadable: true, isSlow: false, queued: 0, unwritten: 0 };
  const channel = {
    kind: 'memory', label: 'client', get queuedBytes() { return line.queued; },
    bind: () => undefined,
    send: (chunks: readonly Uint8Array[]) => {
      line.bytes.push(...chunks);
      line.unwritten += chunks.length;
      if (line.isSlow) for (const { length } of chunks) line.queued += length;
      return line.queued <= 0x10_0000;
    },
    flush: () => void (line.unwritten = 0),
    readable: (on: boolean) => void (line.isReadable = on),
    close: () => undefined,
    destroy: (reason: string) => void (line.closed = reason),
  } satisfies Channel;
  const events = accept(channel);
  const library = new PmixClientEnd(64 * 0x10_0000);
  return Object.assign(line, {
    write: (text: string) => events.onData(fromByteText(text)),
    data: (bytes: Uint8Array) => events.onData(bytes),
    end: () => events.onClose('it has gone'),
    drain: () => {
      line.queued = 0;
      events.onDrain();
    },
    text: () => line.bytes.splice(0).map(toByteText).join(''),
    frames: () => {
      for (const bytes of line.bytes.splice(0)) library.append(bytes);
      const frames: PmixFrame[] = [];
      for (let frame = library.next(); frame !== undefined; frame = library.next()) frames.push(frame);
      return frames;
    },
  });
}

export function hello(nspace = SET.nspace as string, rank = 0, version = '5.0.7'): Uint8Array {
  const none = new Uint8Array(0);
  return encodeHello({
    security: 'native', credential: none, processKind: 0, nspace, rank, version, bfrops: 'v41', form: FORM,
    gds: 'hash', rest: none,
  });
}

export function frame(request: PmixRequest, tag = 101): Uint8Array {
  const body = encodeRequest(FORM, request);
  const header = new Uint8Array(16);
  new DataView(header.buffer).setUint32(4, tag);
  new DataView(header.buffer).setUint32(8, body.length);
  return joined(header, body);
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export const statusOf = ({ body }: PmixFrame): number => new Unpacker(FORM, body).one('status');
export const textValue = (data: string): PmixValue => ({ type: 'string', data });

export function pmixClient(of = agent(), rank = 0) {
  const client = of.socket();
  client.data(hello(SET.nspace, rank));
  if (of.asked.some(([name]) => name === 'pmi.open')) of.open();
  assert.equal(client.frames(), []);
  const ask = (request: PmixRequest, tag?: number): void => client.data(frame(request, tag));
  return { of, client, ask };
}

export function pmi1Client(of = agent(), rank = 0) {
  const client = of.line(rank);
  if (of.asked.some(([name]) => name === 'pmi.open')) of.open();
  client.write('cmd=init pmi_version=1 pmi_subversion=1\n');
  assert.match(client.text(), /rc=0/);
  return { of, client };
}
