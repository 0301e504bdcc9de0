/**
 * The suite of launcherprocs names the promise that is broken. Mutants are made of the launcherproc of `stci plugin
 * new`, in simulation: one mistake each.
 */

// @timeoutMs 300000
import { BrokenPromise, LAUNCHERPROC, collectTests } from '@stci/compliance';
import { launcherProcSuites, type LauncherProcComponent } from '@stci/compliance/launcherproc';
import type { AgentProcess, AgentProcessEvents, LauncherProc } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { templateOf } from './templates.js';

const right = await templateOf<LauncherProcComponent>('launcherproc');
const LONG = { timeoutMs: 100_000 };

type Promises = keyof typeof LAUNCHERPROC.promises;

const changed = (change: (right: LauncherProc) => Partial<LauncherProc>): LauncherProcComponent => ({
  ...right,
  create: (...args) => {
    const made = right.create(...args);
    return { ...made, ...change(made) };
  },
});

const starting = (
  events: (right: AgentProcessEvents) => Partial<AgentProcessEvents>,
  agent: (right: AgentProcess) => Partial<AgentProcess> = () => ({}),
): LauncherProcComponent => changed(({ start }) => ({
  start: (what, right) => override(start(what, { ...right, ...events(right) }), agent),
}));

const reaching = (
  events: (right: AgentProcessEvents) => Partial<AgentProcessEvents>,
  agent: (right: AgentProcess) => Partial<AgentProcess> = () => ({}),
): LauncherProcComponent => changed(({ reach }) => ({
  reach: (what, right) => override(reach(what, { ...right, ...events(right) }), agent),
}));

/** An agent has getters, and state of its own that another object cannot reach. */
function override(agent: AgentProcess, change: (right: AgentProcess) => Partial<AgentProcess>): AgentProcess {
  const { channel, isConnection } = agent;
  return {
    get pid() { return agent.pid; },
    get phase() { return agent.phase; },
    channel, ...(isConnection !== undefined && { isConnection }), kill: () => agent.kill(), ...change(agent),
  };
}

const silent = () => undefined;

/** Components, and the promises that each breaks; some follow from others. */
const MISTAKES: readonly (readonly [string, LauncherProcComponent, readonly Promises[]])[] = [
  ['no sentence', { ...right, help: 'no sentence' }, ['record']],
  ['a status of its own', starting(({ onExit }) => ({
    onExit: (end) => onExit({ ...end, status: 7 }),
  })), ['method', 'up', 'several', 'exits', 'speaks']],
  ['tells it twice when killed', starting(({ onExit }) => ({
    onExit: (end) => {
      onExit(end);
      if (end.signal !== undefined) onExit(end);
    },
  })), ['several', 'kill', 'silent']],
  ['no word of a failure', starting(() => ({ onError: silent })), ['method', 'missing']],
  ['another signal', starting(({ onExit }) => ({
    onExit: (end) => onExit(end.signal === undefined ? end : { ...end, signal: 'SIGTERM' }),
  })), ['silent']],
  ['another name', changed(() => ({ name: 'another' })), ['name']],
  ['a sudden end', starting(({ onExit }) => ({
    onExit: (end) => onExit({ ...end, evidence: 'connection' }),
  })), ['method', 'exits']],
  ['reach: for as long as it likes', changed(({ reach }) => ({
    reach: ({ host, path }, events) => reach({ host, path }, events),
  })), ['asks']],
  ['reach: no end', reaching(() => ({ onExit: silent })), ['carries', 'ends', 'leaves']],
  ['reach: another reason', reaching(({ onError }) => ({
    onError: (error) => onError({ ...error, data: { ...error.data, reach: 'unreachable' } }),
  })), ['dead']],
];

async function brokenBy(component: LauncherProcComponent): Promise<string[]> {
  const found = new Set<string>();
  const define = () => launcherProcSuites(component, [{ label: 'default', real: false }]);
  for (const test of collectTests(define)) {
    for (const thrown of await test.run()) {
      if (!(thrown instanceof BrokenPromise)) throw thrown;
      found.add(thrown.promise.replace('launcherproc.', ''));
    }
  }
  return [...found];
}

suite('launcherproc compliance finds', (test) => {
  test('what it tells is a sentence of one line: what was found, and what was expected', async () => {
    const [, component] = MISTAKES[1] ?? [];
    const tests = collectTests(() => launcherProcSuites(component!, [{ label: 'default', real: false }]));
    const [thrown] = await tests.find(({ name }) => name === 'process: up')!.run();
    const text = '    found: errors and exits, after its link was closed: [[],["7"]], expected [[],["0"]]';
    assert.match((thrown as Error).message, text);
  }, LONG);

  test('nothing in the right one', async () => assert.equal(await brokenBy(right), []), LONG);

  for (const [name, component, promises] of MISTAKES) {
    test(`${name}: ${promises.join(', ')}`, async () => assert.equal(await brokenBy(component), [...promises]), LONG);
  }
});
