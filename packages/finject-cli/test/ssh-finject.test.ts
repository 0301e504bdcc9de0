/** finject over real ssh, with encrypted links, an overlay and a detector: each fault, and finject's own end. */
// @timeoutMs 300000

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readHistory, type History } from '@stci/finject/experiment';
import { assert, eventually, patient, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { recordsOf, states, writePlugin } from './e2e-finject.js';

const FINJECT = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));
const STCI = fileURLToPath(new URL('../../stcirun/bin/stci.cjs', import.meta.url));
const STCIRUN = fileURLToPath(new URL('../../stcirun/bin/stcirun.cjs', import.meta.url));
const LONG = { timeoutMs: 120_000 };
const RUN_MS = 60_000;
const why = whyNoHosts();
const names = ['h1', 'h2', 'h3', 'h4'];
const TICKS = 10;
/** Half of it is for orphans to be adopted, and for the controller to reach who fell silent: work of processes. */
const LEASE_MS = Math.ceil(patient(3000));
/** What is not to end by itself. */
const LONG_MS = 10 * LEASE_MS;

/** A chain: each host is the only way to the next. */
const HOSTS = [
  '--launcher', 'ssh', '--host', names.map((name) => `${name}:2`).join(), '--overlay', 'bmg',
  '--mca', 'bootcom.ws.interface=eth0', '--mca', 'detector=ring', '--mca', 'launcher.tree.arity=1',
  '--mca', `bootcom.lease=${LEASE_MS}ms`, '--mca', 'launcher.session.method=process',
];

/** Says `tick` and its number ten times, in 4 s. */
const TICKING = ['sh', '-c', `for i in $(seq ${TICKS}); do echo "tick $i"; sleep 0.4; done`];

/** A kind that says its argument, at the host of its victim. */
interface Done {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Done>;
}

suite('finject over ssh', (test) => {
  let hosts: Hosts;
  let directory: string;
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    directory = mkdtempSync(join(tmpdir(), 'finject-ssh-'));
    hosts = await up(names.length);
  }, LONG);
  test.after(async () => {
    await hosts?.down();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  }, LONG);

  function start(program: string, args: readonly string[]): Running {
    const env = { STCI_MCA_session_directory: join(directory, 'sessions') };
    const [file, ...rest] = hosts.loginArgv([process.execPath, program, ...args], { cwd: directory, env });
    const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    const text = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk));
    const timer = setTimeout(() => child.kill('SIGKILL'), patient(RUN_MS));
    const done = new Promise<Done>((resolve) => {
      child.on('close', (code) => {
        clearTimeout(timer);
        resolve({ code, ...text });
      });
    });
    return { child, done };
  }

  /** `faults`: lines of YAML, each a fault. */
  function experiment(name: string, faults: readonly string[], target: Record<string, unknown> = {}): Running {
    const whole = { options: ['-n', '8', '--on-failure', 'continue', ...HOSTS], program: TICKING, ...target };
    const lines = [
      `name: ${name}`, `target: ${JSON.stringify(whole)}`, `time-limit: ${LONG_MS + 10_000}ms`,
      'faults:', ...faults.map((fault) => `  - ${fault}`), 'checks: [no-false-detection, no-orphan]',
    ];
    writeFileSync(join(directory, `${name}.yaml`), `${lines.join('\n')}\n`);
    return start(FINJECT, ['run', `${name}.yaml`, '--output', name]);
  }

  function historyOf(run: string): History {
    const path = join(directory, run, 'history.jsonl');
    return readHistory(run, existsSync(path) ? readFileSync(path, 'utf8') : '');
  }

  const happened = (run: string): string[] =>
    states(historyOf(run)).filter((state) => !/ due$| ordered$/u.test(state)).map((state) => state.slice('1.'.length));
  const failed = (run: string): string[] => recordsOf(historyOf(run), 'event')
    .flatMap(({ event }) => (event.type === 'failure' && event.error.host !== undefined ? [event.error.host] : []));

  /** How often each rank has ticked. */
  function ticks(run: string): number[] {
    const counts = Array.from({ length: names.length * 2 }, () => 0);
    for (const { rank, text } of recordsOf(historyOf(run), 'output')) {
      counts[rank] = (counts[rank] as number) + text.split('tick ').length - 1;
    }
    return counts;
  }

  async function nothingLeft(): Promise<void> {
    const left = (): string => [...hosts.allLeftovers()]
      .map(([host, all]) => `${host}: ${all.map(({ command }) => command.slice(0, 100)).join(', ')}`).join('; ');
    await eventually(() => left() === '', { deadlineMs: 30_000, what: 'nothing left on any host' })
      .catch((thrown: Error) => {
        throw new Error(`${thrown.message}: ${left()}`);
      });
  }

  /** Processes on all hosts that are stopped. */
  function stopped(): readonly string[] {
    return names.flatMap((host) => hosts.leftovers(host)).filter(({ pid }) => {
      try {
        return /^State:\s*T/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
      } catch {
        return false;
      }
    }).map(({ command }) => command);
  }

  /** The run has a whole record, clocks that agree (hosts share one) within their error bounds, and a report. */
  function checkRecord(run: string): void {
    const history = historyOf(run);
    assert.equal([history.isCutOff, history.problems ?? []], [false, []]);
    const clocks = recordsOf(history, 'clock')[0]?.clocks ?? [];
    assert.equal(clocks.map(({ name }) => name), names);
    for (const { offsetMs, errorMs, samples } of clocks) {
      const isSane = Math.abs(offsetMs) <= errorMs && errorMs > 0 && errorMs < 500 && samples > 0;
      assert.ok(isSane, `${offsetMs} ± ${errorMs}`);
    }
    for (const { agent, state, host } of recordsOf(history, 'injection')) {
      if (state === 'injected') assert.ok(agent !== undefined && host !== undefined);
    }
    assert.match(readFileSync(join(directory, run, 'report.html'), 'utf8'), '</html>');
    assert.match(readFileSync(join(directory, run, 'injections.csv'), 'utf8'), '1.');
  }

  async function over(run: Running, code: number): Promise<void> {
    const done = await run.done;
    assert.is(done.code, code, `${done.out}\n${done.err}`);
    await nothingLeft();
  }

  check('a rank is killed, agents are paused, links silent for less than the lease, a host under load', async () => {
    await over(experiment('short', [
      '{name: kill, kind: pkill, who: {ranks: [7]}, when: 200ms}',
      '{name: load, kind: load, args: {cpu: 1, memory: 1MiB}, who: {hosts: [h3]}, when: 200ms, duration: 400ms}',
      '{name: link, kind: link, who: {links: [[h1, h2]]}, when: 500ms, duration: 1s}',
      '{name: session, kind: pause, who: {agents: session, on: [h4]}, when: 600ms, duration: 500ms}',
      '{name: root, kind: pause, who: {agents: root, on: [h3]}, when: 1700ms, duration: 600ms}',
      '{name: halves, kind: partition, who: {partition: halves}, when: 2600ms, duration: 1s}',
    ]), 0);
    checkRecord('short');
    const all = happened('short');
    assert.equal([...new Set(all.map((state) => state.split(' ')[1]))].sort(), ['injected', 'undone'], all.join());
    for (const name of ['load', 'link', 'session', 'root', 'halves']) assert.ok(all.includes(`${name}.1 undone`), name);
    assert.equal(ticks('short').slice(0, 7), Array.from({ length: 7 }, () => TICKS));
    const [end] = recordsOf(historyOf('short'), 'repeat-end');
    assert.equal([end?.report?.exitCode, end?.orphans], [137, 0]);
    assert.equal(end?.report?.failures.map(({ rank }) => rank), [7]);
  });

  check('a root agent and a host are killed: the others go on', async () => {
    await over(experiment('crash', [
      '{name: agent, kind: agent, who: {agents: root, on: [h2]}, when: 300ms}',
      '{name: host, kind: host, who: {hosts: [h4]}, when: 600ms}',
    ]), 0);
    checkRecord('crash');
    assert.equal(happened('crash'), ['agent.1 injected', 'host.1 injected']);
    assert.equal([...new Set(failed('crash'))].sort(), ['h2', 'h4']);
    const counts = ticks('crash');
    assert.equal([0, 1, 4, 5].map((rank) => counts[rank]), [TICKS, TICKS, TICKS, TICKS]);
  });

  check('a host is cut off for longer than the lease: it is given up, and ends what it runs by itself', async () => {
    const go = join(directory, 'go');
    const who = '{partition: [[controller, h1, h3, h4], [h2]]}';
    const run = experiment('long', [
      `{name: cut, kind: partition, who: ${who}, when: 300ms, duration: ${LONG_MS}ms}`,
    ], { program: ['sh', '-c', `until [ -e ${go} ]; do sleep 0.2; done`] });
    await eventually(() => failed('long').includes('h2'), { deadlineMs: 30_000, what: 'the loss of h2' });
    await eventually(() => hosts.leftovers('h2').length === 0, { deadlineMs: 14_000, what: 'h2 to end what it runs' });
    assert.is(run.child.exitCode, null);
    writeFileSync(go, '');
    await over(run, 0);
    checkRecord('long');
    assert.equal([...new Set(failed('long'))], ['h2']);
  });

  check('a kind of fault from a plugin, which agents on other hosts load, too', async () => {
    writePlugin(join(directory, 'plugin'));
    await over(experiment('own', ['{kind: own, args: {word: abc}, who: {hosts: [h4]}, when: 200ms}'], {
      options: ['-n', '4', ...HOSTS, '--plugin', 'plugin'], program: ['sleep', '1'],
    }), 0);
    const texts = recordsOf(historyOf('own'), 'injection').map(({ text }) => text);
    assert.equal(texts.filter((text) => text !== ''), ['abc']);
    const inSimulation = await start(FINJECT, ['run', '--simulate', 'own.yaml', '--output', 'simulated']).done;
    assert.is(inSimulation.code, 0, inSimulation.err);
  });

  for (const [name, fault, count] of [
    ['cut', `{name: cut, kind: partition, who: {partition: halves}, when: 200ms, duration: ${LONG_MS}ms}`, 1],
    ['stopped', `{name: stop, kind: pause, who: {hosts: [h2, h4]}, when: 200ms, duration: ${LEASE_MS + 1000}ms}`, 2],
  ] as const) {
    check(`SIGKILL of finject while hosts are ${name}: nothing stays so, nothing is left`, async () => {
      const run = experiment(`killed-${name}`, [fault], { program: ['sleep', String(2 * LONG_MS / 1000)] });
      await eventually(() => happened(`killed-${name}`).filter((state) => state.endsWith('injected')).length >= count,
        { deadlineMs: 30_000, what: 'the fault' });
      run.child.kill('SIGKILL');
      await run.done;
      await nothingLeft();
      assert.equal(stopped(), []);
      assert.is(historyOf(`killed-${name}`).isCutOff, true);
    });
  }

  check('in a session that stays, SIGKILL of finject undoes its faults at once, and the session is whole', async () => {
    const begun = await start(STCI, ['start', '--name', 'lab', ...HOSTS]).done;
    assert.is(begun.code, 0, begun.err);
    const run = experiment('staying', [
      `{name: stop, kind: pause, who: {ranks: all}, when: 200ms, duration: ${LONG_MS}ms}`,
      `{name: cut, kind: partition, who: {partition: halves}, when: 1500ms, duration: ${LONG_MS}ms}`,
    ], { options: ['-n', '8'], session: 'lab', program: ['sleep', '20'] });
    await eventually(() => happened('staying').includes('cut.1 injected'), { deadlineMs: 30_000, what: 'both faults' });
    assert.is(stopped().length, 8);
    run.child.kill('SIGKILL');
    await run.done;
    await eventually(() => stopped().length === 0, { deadlineMs: 10_000, what: 'that they go on' });
    const job = await start(STCIRUN, ['--session', 'lab', '--oversubscribe', '--ppn', '1', 'hostname']).done;
    assert.equal([job.code, job.out.trim().split('\n').sort()], [0, names], job.err);
    const ended = await start(STCI, ['stop', 'lab']).done;
    assert.is(ended.code, 0, ended.err);
    await nothingLeft();
  });
});
