/** What a job offers its ranks before a library speaks, and what is known once one does. */

import type { Channel, ChannelEvents, Rank } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import type { PmiHost } from '../../dist/pmi/pmi-host.js';
import '../../dist/pmi/messages.js';
import { PmiPort, hostCode } from '../../dist/pmi/pmi-port.js';
import type { JobPlace } from '../../dist/service/contracts.js';

/** Of ranks 0 to 2, with a protocol by sockets whose server notes what it gets. */
function port() {
  const handlers = new Map<string, (body: object) => unknown>();
  const hosts: PmiHost[] = [];
  const got: string[] = [];
  const accept = (_channel: Channel, rank: Rank | undefined): ChannelEvents => ({
    onData: (chunk) => got.push(`${rank}: ${chunk.length}`), onDrain: () => undefined,
    onClose: () => got.push(`${rank}: closed`),
  });
  const open = (host: PmiHost) => {
    hosts.push(host);
    return { accept };
  };
  const code = { use: (done: (opened: typeof open) => void) => done(open) };
  const module = { by: 'socket', variables: () => ({}), code };
  const platform = { clock: { wallMs: () => 0 }, env: { hostname: 'here' }, files: { removeNamed: () => undefined } };
  const messages = { on: (name: string, handler: never) => handlers.set(name, handler) };
  const holds = new Scope('job');
  const place = {
    node: { platform, messages, sessionName: 's' }, scope: { selected: () => [{ create: () => module }] }, holds,
    params: { list: () => ['notify'] }, spawnOf: () => undefined,
    size: 3, job: 1, token: 't', host: 0, hostName: 'here',
  } as unknown as JobPlace;
  const own = new PmiPort(place);
  for (const rank of [0, 1, 2]) own.add(rank);
  /** A channel of this rank, by what its receiver is told. */
  const connect = (rank: Rank): ChannelEvents => {
    let events: ChannelEvents | undefined;
    const channel = {
      bind: (receiver: ChannelEvents) => (events = receiver), readable: () => undefined, destroy: () => undefined,
    };
    own.socketOf(rank)?.(channel as unknown as Channel);
    return events!;
  };
  const ask = (rank: Rank): boolean[] => {
    const found: boolean[] = [];
    const later = handlers.get('pmi.get')!({ host: 1, number: 0, rank }) as { begin(answer: object): void };
    later.begin({ done: ({ isFound }: { isFound: boolean }) => found.push(isFound) });
    return found;
  };
  return { own, hosts, got, holds, connect, ask };
}

const loaded = (): Promise<unknown> => new Promise((done) => hostCode.use(done));

suite('the port of MPI libraries', (test) => {
  test('tells the host which ranks had ended, and how, before its code was loaded', async () => {
    const { own, hosts, got, connect, ask } = port();
    own.remove(0, true);
    const library = connect(2);
    library.onData(new Uint8Array(3));
    own.remove(1, false);
    own.remove(1, true);
    library.onData(new Uint8Array(2));
    library.onClose('gone');
    await loaded();
    assert.equal(got, ['2: 3', '2: 2', '2: closed']);
    const lost: Rank[] = [];
    hosts[0]!.begin({ rank: 2, onLost: (ranks) => lost.push(...ranks), onEvent: () => undefined });
    assert.equal(lost, [1]);
    assert.equal([0, 1, 2].map(ask), [[false], [false], []]);
  });

  test('serves nobody once the job is over', async () => {
    const { hosts, got, connect, holds } = port();
    const library = connect(0);
    holds.close();
    library.onData(new Uint8Array(1));
    await loaded();
    assert.equal([hosts.length, got], [0, []]);
  });
});
