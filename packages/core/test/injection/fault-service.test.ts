/** The service of faults at an agent: how its controller is told. */

import type { FaultEvent, FaultModule, FaultOrder } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { code } from '../../dist/injection/fault-service.js';
import type { PartReport } from '../../dist/injection/fault-site.js';
import type { SessionPlace } from '../../dist/service/contracts.js';
import { testPlace } from '../world.js';

const ORDER: FaultOrder = {
  id: 'a', kind: 'test', args: {}, victim: { kind: 'host', host: 3 }, job: 0, timeoutMs: 1000, durationMs: 500,
};

suite('service of faults', (test) => {
  test('what is told first is a request to the controller, and goes on at its answer', () => {
    const { platform, run } = testPlace();
    const handlers = new Map<string, (body: unknown) => void>();
    const told: string[] = [];
    const asked: (() => void)[] = [];
    const seen: string[] = [];
    const node = {
      platform, holds: new Scope('agent'), name: 'session:1@3', sessionName: 's',
      identity: { self: 0x3000_0003, job: 1 },
      router: { parentLink: {} }, fault: () => undefined,
      messages: {
        on: (name: string, handler: (body: unknown) => void) => void handlers.set(name, handler),
        send: (_to: number, _name: string, { report }: PartReport) => void told.push(report?.state ?? 'over'),
        request: (_to: number, _name: string, { report }: PartReport, done: () => void) => {
          told.push(`${report?.state}?`);
          asked.push(done);
        },
      },
    };
    const on = ({ type }: FaultEvent) => {
      seen.push(type);
      return type === 'inject' ? [{ type: 'injected', text: '', key: 'k' }] : [];
    };
    const module = {
      victims: [], undoes: true, args: {}, problemOf: () => undefined, plan: () => [],
      open: () => ({ dueMs: undefined, on }),
    } as FaultModule;
    code.session?.({ node, scope: { fault: () => module } } as unknown as SessionPlace);
    handlers.get('fault.inject')?.({ order: ORDER, number: 0, part: { at: {}, body: {} } });
    run(1);
    assert.equal([told, seen], [['injected?'], ['set-up', 'inject']]);
    asked.shift()?.();
    assert.equal(seen, ['set-up', 'inject', 'done']);
  });
});
