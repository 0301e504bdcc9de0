/** The driver of pure machines: what a message may do to one. */

import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { MachineDriver } from '../../dist/event/machine-driver.js';
import { testPlace } from '../world.js';

interface Event { readonly type: string; readonly fault?: Error }

function driver(onAction: (action: string) => void): { on(event: Event): void; readonly told: string[] } {
  const told: string[] = [];
  const made = new MachineDriver<Event, string>(testPlace().platform.clock, 'Machine', {
    onAction: (_name, action) => onAction(action),
    onLate: () => undefined,
    onMalformed: (name, _event, { code }) => void told.push(`${name} ${code}`),
    onFault: (name, { code }) => void told.push(`${name} has ended: ${code}`),
  });
  made.add('one', {
    dueMs: undefined,
    on: ({ type, fault }) => {
      if (fault !== undefined) throw fault;
      return [type];
    },
  });
  return { on: (event) => made.on(event), told };
}

suite('machine driver', (test) => {
  test('no message of others ends a machine by a coded error; anything else that it throws does', () => {
    const actions: string[] = [];
    const { on, told } = driver((action) => void actions.push(action));
    const fault = new StciError('STCI_TOPOLOGY_INVALID', 'no mesh of 8');
    on({ type: 'message', fault });
    on({ type: 'due' });
    on({ type: 'due', fault });
    on({ type: 'due' });
    assert.equal(told, ['one STCI_TOPOLOGY_INVALID', 'one has ended: STCI_INTERNAL']);
    assert.equal(actions, ['due']);
  });

  test('an action that fails does not keep it from what follows', () => {
    let isFirst = true;
    const actions: string[] = [];
    const { on } = driver((action) => {
      if (isFirst) {
        isFirst = false;
        throw new Error('it cannot be done');
      }
      actions.push(action);
    });
    assert.throws(() => on({ type: 'due' }), /cannot be done/);
    on({ type: 'due' });
    assert.equal(actions, ['due']);
  });

  test('one whose due time cannot be read is stopped, the others go on', () => {
    const told: string[] = [];
    const { platform, run } = testPlace();
    const made = new MachineDriver<Event, string>(platform.clock, 'Machine', {
      onAction: (name, action) => void told.push(`${name}: ${action}`),
      onLate: () => undefined,
      onMalformed: () => undefined,
      onFault: (name, { message }) => void told.push(`${name}: ${message}`),
    });
    made.add('bad', { get dueMs(): number { throw new Error('boom'); }, on: () => [] });
    let dueMs: number | undefined = platform.clock.nowMs() + 10;
    made.add('good', {
      get dueMs() { return dueMs; },
      on: ({ type }) => {
        if (type === 'due') dueMs = undefined;
        return [type];
      },
    });
    made.on({ type: 'start' });
    run(20);
    const bad = 'bad: Machine bad failed and has been stopped, the session goes on without it: boom';
    assert.equal(told, ['good: start', bad, 'good: due']);
    assert.equal(made.names, ['good']);
  });
});
