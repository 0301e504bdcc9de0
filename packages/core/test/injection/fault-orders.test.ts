/** Injections that are not over, at the controller: their parts, found by id, serial, host and job. */

import {
  CONTROLLER, rootAddress, sessionAddress, type FaultOrder, type FaultPart, type HostIndex, type JobId,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { FaultOrders, openOrder, type OpenOrder } from '../../dist/injection/fault-orders.js';
import { testPlace } from '../world.js';

type Role = 'controller' | 'root' | 'session';

const open = (id: string, serial: string, job: JobId, ...at: (readonly [Role, HostIndex])[]): OpenOrder =>
  openOrder({ id, job } as unknown as FaultOrder, serial, true,
    at.map(([role, host]) => ({ at: { role, host } }) as unknown as FaultPart));

suite('orders of faults', (test) => {
  test('each part is at an agent, of a session agent its job, and has a number and a name', () => {
    const { parts, serial, undoes, order } = open('a', '7', 3, ['controller', 0], ['root', 2], ['session', 2]);
    const told = parts.map(({ number, agent, job, name, state }) => [number, agent, job, name, state]);
    assert.equal(told, [
      [0, CONTROLLER, 0, 'controller', 'ordered'], [1, rootAddress(2), 0, 'root:2', 'ordered'],
      [2, sessionAddress(2), 3, 'session:2 of job 3', 'ordered'],
    ]);
    assert.ok(parts.every((part) => !part.isOver && !part.isUndoing && !part.isGivenUp));
    assert.equal([serial, undoes, order.id], ['7', true, 'a']);
  });

  test('they are found by id, or all, and by serial; an id may be used again while the former is in force', () => {
    const orders = new FaultOrders();
    const [first, second, again] = [open('a', '1', 0, ['root', 1]), open('b', '2', 0, ['root', 2], ['root', 3]),
      open('a', '3', 0, ['root', 4])];
    for (const one of [first, second, again]) orders.add(one);
    assert.equal([orders.ids(''), orders.ids('b'), orders.ids('c')], [['a', 'b'], ['b'], []]);
    assert.equal([orders.size, orders.partCount, orders.all.length], [2, 3, 2]);
    assert.equal([orders.get('a') === again, orders.ofSerial('1') === first, orders.ofSerial('3') === again],
      [true, true, true]);
    assert.equal([orders.get('c'), orders.ofSerial('4')], [undefined, undefined]);
  });

  test('one is forgotten when all its parts are over, with its timer', () => {
    const { platform, world } = testPlace();
    const orders = new FaultOrders();
    const one = open('a', '1', 0, ['root', 1], ['root', 2]);
    one.timer = platform.clock.after(1000, () => undefined);
    orders.add(one);
    const [first, second] = one.parts as [OpenOrder['parts'][number], OpenOrder['parts'][number]];
    first.isOver = true;
    orders.settle(one);
    assert.equal([orders.get('a') === one, orders.ofSerial('1') === one], [true, true]);
    assert.equal(orders.left(['a', 'x']), ['root:2']);
    assert.is(world.scheduler.queue.pending().length, 1);
    second.isOver = true;
    orders.settle(one);
    assert.equal([orders.get('a'), orders.ofSerial('1')], [undefined, undefined]);
    assert.equal([orders.size, orders.left(['a'])], [0, []]);
    assert.equal(world.scheduler.queue.pending(), []);
  });

  test('agents at which something is left are named once', () => {
    const orders = new FaultOrders();
    orders.add(open('a', '1', 0, ['root', 1], ['root', 2]));
    orders.add(open('b', '2', 0, ['root', 1], ['controller', 0]));
    assert.equal([orders.left(['a', 'b']), orders.left(['b']), orders.left([])],
      [['root:1', 'root:2', 'controller'], ['root:1', 'controller'], []]);
  });

  test('what goes with a host, with a job, or with one agent of both; the controller never, nor what is over', () => {
    const orders = new FaultOrders();
    const job3 = open('a', '1', 3, ['controller', 0], ['root', 0], ['session', 0], ['session', 1]);
    const job4 = open('b', '2', 4, ['root', 1], ['session', 1]);
    for (const one of [job3, job4]) orders.add(one);
    const gone = (what: { readonly host?: HostIndex; readonly job?: JobId }): string[] =>
      orders.takeGone(what).map(([{ order }, { name }]) => `${order.id}: ${name}`);
    assert.equal(gone({ host: 0 }), ['a: root:0', 'a: session:0 of job 3']);
    assert.equal(gone({ host: 1 }), ['a: session:1 of job 3', 'b: root:1', 'b: session:1 of job 4']);
    assert.equal(gone({ job: 3 }), ['a: session:0 of job 3', 'a: session:1 of job 3']);
    assert.equal([gone({ host: 1, job: 4 }), gone({ host: 2 }), gone({ job: 0 })], [['b: session:1 of job 4'], [], []]);
    for (const part of job3.parts) part.isOver = true;
    assert.equal(gone({ job: 3 }), []);
  });

  test('all is forgotten at once, with the timers', () => {
    const { platform, world } = testPlace();
    const orders = new FaultOrders();
    for (const id of ['a', 'b']) {
      const one = open(id, `${id}1`, 0, ['root', 1]);
      if (id === 'b') one.timer = platform.clock.after(1000, () => undefined);
      orders.add(one);
    }
    orders.clear();
    assert.equal([orders.size, orders.partCount, orders.ofSerial('a1'), orders.ids('')], [0, 0, undefined, []]);
    assert.equal(world.scheduler.queue.pending(), []);
  });
});
