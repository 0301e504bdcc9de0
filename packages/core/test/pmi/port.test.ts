/** Where libraries find their launcher: what is made ready for a library that a rank has loaded. */

import type { Clock } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { PmiHost } from '../../dist/pmi/pmi-host.js';
import { PmiPort, hostCode } from '../../dist/pmi/pmi-port.js';
import type { PmiModule } from '../../dist/pmi/framework.js';
import { pmi1 } from '../../dist/pmi/pmi1.js';
import { pmix } from '../../dist/pmix/pmix.js';
import type { JobPlace } from '../../dist/service/contracts.js';
import { Loadable } from '../../dist/service/loadable.js';

const LIBRARIES = ['libc.so.6', 'libmpi.so.40.40.7', 'libopen-pal.so.80.0.5', 'libmpich.so.12.2.1', 'libmpir.so.23'];

/** Of rank 0, whose process has loaded what `maps` says at each look. */
function port(...maps: readonly string[]) {
  const [prepared, looks, timers] = [[] as string[], [] as string[], [] as (() => void)[]];
  const modules = [pmi1, pmix].map(({ name, create }) => {
    const code: PmiModule['code'] = new Loadable(name, () => Promise.reject(new Error('it is here')));
    const accept = (): never => assert.unreachable() as never;
    code.provide(() => ({ accept, prepare: () => void prepared.push(name) }));
    return { create: () => ({ ...create({} as never, {} as never, undefined), by: 'socket', code }) };
  });
  hostCode.provide(PmiHost);
  const clock = {
    wallMs: () => 0, after: (_ms: number, fire: () => void) => (timers.push(fire), { cancel: () => undefined }),
  } as unknown as Clock;
  const systemText = (path: string): string | undefined => (looks.push(path), maps[looks.length - 1]);
  const place = {
    node: {
      sessionName: 's', messages: { on: () => undefined },
      platform: { clock, env: { hostname: 'here', systemText } },
    },
    holds: new Scope('job'), params: { list: () => ['abort'] }, scope: { selected: () => modules },
    job: 1, token: 't', size: 1, spawnOf: () => undefined,
    processOf: (rank: number) => (rank === 0 ? { pid: 7, program: 'p' } : undefined),
  } as unknown as JobPlace;
  const own = new PmiPort(place);
  const wait = (): void => timers.splice(0).forEach((fire) => fire());
  return { own, prepared, looks, wait };
}

suite('a port of MPI libraries', (test) => {
  test('is ready for the library that a rank has loaded, and for no other', () => {
    const loaded = LIBRARIES.map((name) => {
      const { own, prepared } = port(`7f00 r-xp 0 08:01 5 /usr/lib/${name}\n`);
      own.add(0);
      own.onStarted();
      return prepared.join();
    });
    assert.equal(loaded, ['', '', 'pmix', 'pmi1', '']);
  });

  test('looks again while the linker works, some times, and at no rank that has ended', () => {
    const { own, prepared, looks, wait } = port('', 'ld.so\n', '/usr/lib/libopen-pal.so.80\n');
    own.add(0);
    own.onStarted();
    for (let i = 0; i < 5; i++) wait();
    assert.equal([looks, prepared], [Array(3).fill('/proc/7/maps'), ['pmix']]);
    const none = port();
    none.own.add(0);
    none.own.onStarted();
    for (let i = 0; i < 9; i++) none.wait();
    assert.equal([none.looks.length, none.prepared], [4, []]);
    const ended = port('/usr/lib/libmpich.so.12');
    ended.own.add(0);
    ended.own.remove(0, true);
    ended.own.onStarted();
    assert.equal([ended.looks, ended.prepared], [[], []]);
  });
});
