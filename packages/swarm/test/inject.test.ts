/** The session's side of fault injection, in whole simulated sessions of shipped code. */

import { assert, suite } from '@stci/testkit';
import { InjectionRun } from '@stci/swarm';

const run = (more: Partial<ConstructorParameters<typeof InjectionRun>[0]> = {}): InjectionRun =>
  new InjectionRun({ hosts: 3, command: ['sleep', '600'], ranks: 6, ...more });

suite('injection', (test) => {
  test('a rank is killed, and the report comes before the end of the rank', () => {
    const sim = run();
    const front = sim.experimenter();
    const report = sim.inject(front, sim.order({ kind: 'pkill', victim: { kind: 'rank', rank: 4 } }));
    assert.equal({ ...report, wallMs: 0, monotonicMs: 0 }, {
      id: '1.fault.1', agent: 'session:1', host: 1, state: 'injected', text: 'SIGKILL to rank 4', wallMs: 0,
      monotonicMs: 0,
    });
    sim.until('its end', () => sim.events.some((event) => event.type === 'exited' && event.report.rank === 4));
    assert.is(sim.tools.length, 5);
    const again = sim.inject(front, sim.order({ kind: 'pkill', id: 'b', victim: { kind: 'rank', rank: 4 } }));
    assert.equal([again.state, again.text], ['skipped', 'rank 4 does not run: it has ended, or was not started']);
  });

  test('noop is in force for its time', () => {
    const sim = run();
    const front = sim.experimenter();
    const order = sim.order({ kind: 'noop', victim: { kind: 'host', host: 1 }, durationMs: 500 });
    const [injected, undone] = [sim.inject(front, order), sim.inject(front, { ...order, id: 'x' }, 'undone')];
    assert.is(injected.state, 'injected');
    const first = front.reports.find(({ id, state }) => id === 'x' && state === 'injected');
    assert.is(Math.round(undone.monotonicMs - (first?.monotonicMs ?? 0)), 500);
  });
});
