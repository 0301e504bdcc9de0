/** Kind `network`: its orders, the rules that a real kernel takes, their end, and the machine. */

import { spawnSync } from 'node:child_process';
import type { FaultAction, FaultMachine, FaultOrder, FaultPlace } from '@stci/interface';
import { assert, patient, suite } from '@stci/testkit';
import { faultNetwork } from '../dist/faults/network.js';
import { injectText, removeText } from '../dist/faults/network-rules.js';

const module = faultNetwork.create({}, {}, undefined);
const DEFAULTS = Object.fromEntries(Object.entries(module.args).map(([name, spec]) => [name, spec.default]));
const complete = (args: FaultOrder['args'] = {}): FaultOrder['args'] => ({ ...DEFAULTS, ...args });

function order(args: FaultOrder['args'] = {}, durationMs = 700): FaultOrder {
  return { id: 'x', kind: 'network', args: complete(args), victim: { kind: 'host', host: 1 }, job: 0, durationMs,
    timeoutMs: 1000 };
}

/** In a network namespace of its own, where all of nft's programs are in $1, $2 and so on. */
function inNamespace(script: string, ...texts: readonly string[]) {
  const user = process.geteuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const path = `${process.env['PATH']}:/usr/sbin:/sbin`;
  return spawnSync('unshare', [...user, '--net', 'sh', '-c', script, 'sh', ...texts],
    { encoding: 'utf8', env: { PATH: path }, timeout: patient(20_000) });
}

function whyNoNft(): string | undefined {
  const { status, stderr, error } = inNamespace('nft --check "$1"', injectText(0, 'a', complete(), 1000));
  return status === 0 ? undefined : `nft in a network namespace: ${error?.message ?? stderr.split('\n')[0]}`;
}

/** One datagram, and what became of it. */
const SEND = `const socket = require('node:dgram').createSocket('udp4');
  socket.send('x', 9, process.argv[1], (error) => { console.log(error?.code ?? 'sent'); socket.close(); })`;

const PEERS = ['10.0.0.7', '10.1.0.0/16', 'fd00::/8'];

suite('fault network: orders', (test) => {
  test('what is wrong with one is said', () => {
    const problem = (args: FaultOrder['args'], durationMs?: number): string =>
      module.problemOf(order(args, durationMs)) ?? 'none';
    assert.is(problem({}), 'none');
    assert.is(problem({ mode: 'part', direction: 'in', peers: PEERS, spare: ['22', '40000-40100'] }), 'none');
    assert.match(problem({}, 0), 'at least 1 ms');
    assert.match(problem({ mode: 'delay' }), /delay is refused: .*netem.*no end of its own.*kind link delays/u);
    assert.match(problem({ loss: 5 }), 'argument loss is of mode loss, and the mode is part: add mode loss');
    assert.match(problem({ mode: 'loss', direction: 'in' }), 'argument direction is of mode part');
    const wrong = [
      'h1', '10.0.0.7; flush ruleset', '10.0.0', '', '0x7f000001', '}', ':x', 'fd00::/8 }', '999.1.1.1', ':::',
      '1.2.3.4/99', '1::2::3', 'fd00::/129', '1:2:3',
    ];
    for (const peer of wrong) {
      assert.match(problem({ peers: [peer] }), `argument peers: '${peer}' is not an address or network`);
    }
    for (const port of ['0', '65536', '9-8', 'ssh', '22 }', '-']) {
      assert.match(problem({ spare: [port] }), `argument spare: '${port}' is not a port`);
    }
    assert.match(problem({ spare: Array.from({ length: 65 }, () => '22') }), 'has 65 elements, and may have 64');
  });

  test('its root agent carries it out, and is told where the controller is', () => {
    const place = { network: 'k net:[1]', isUp: (host: number) => host === 1 } as unknown as FaultPlace;
    assert.equal(module.plan(order(), place), [{ at: { role: 'root', host: 1 }, body: { apartFrom: 'k net:[1]' } }]);
    assert.is(module.plan({ ...order(), victim: { kind: 'host', host: 0 } }, place), 'root:0 is not up');
  });
});

suite('fault network: rules', (test) => {
  const why = whyNoNft();
  const check = (name: string, body: () => void): void => test.skipIf(why !== undefined, why ?? '', name, body,
    { timeoutMs: 30_000 });

  test('each mode', () => {
    const rules = (args: FaultOrder['args']): string[] =>
      injectText(0, 'a', complete(args), 1).split('\n').filter((line) => /(?:drop|accept)$/u.test(line));
    const [first, lasts] = ['iifname "lo" accept', 'meta nfproto != @lasts accept'];
    assert.equal(rules({}), [first, lasts, 'drop', 'oifname "lo" accept', lasts, 'drop']);
    assert.equal(rules({ mode: 'loss', loss: 5 }), [first, lasts, 'numgen random mod 100 < 5 drop']);
    assert.equal(rules({ mode: 'rate', rate: 9, spare: ['22'] }), [first, lasts, 'tcp sport { 22 } accept',
      'tcp dport { 22 } accept', 'limit rate over 9 bytes/second burst 131072 bytes drop']);
    assert.equal(rules({ direction: 'out', peers: PEERS }), ['oifname "lo" accept', lasts,
      'ip daddr { 10.0.0.7, 10.1.0.0/16 } drop', 'ip6 daddr { fd00::/8 } drop']);
  });

  check('a kernel takes those of each mode', () => {
    const all: readonly FaultOrder['args'][] = [
      { direction: 'in' }, { mode: 'loss', loss: 99 }, { mode: 'rate', rate: 1 }, { peers: PEERS },
      { spare: ['22', '40000-40100'] }, { peers: ['::1', '::ffff:10.0.0.7'], mode: 'rate', spare: ['1'] },
    ];
    for (const args of all) {
      const { status, stderr } = inNamespace('nft "$1"', injectText(0, 'a', complete(args), 86_400_000));
      assert.equal([status, stderr], [0, ''], JSON.stringify(args));
    }
  });

  check('they end with nobody there; until then a table is refused, afterwards the next fault takes it', () => {
    const texts = [injectText(0, 'a', complete(), 1500), injectText(0, 'b', complete(), 60_000),
      removeText(0, 'a'), removeText(0, 'b')];
    const { stdout, stderr } = inNamespace([
      'nft "$1"; nft "$2" 2>&1 | head -n 1',
      'until nft "$2" 2>/dev/null; do sleep 0.1; done',
      'nft "$3" 2>&1 | head -n 1; nft list tables; nft "$4"; nft list tables',
    ].join('\n'), ...texts);
    assert.equal(stdout.trim().split('\n'), ['Error: Could not process rule: File exists',
      'Error: Could not process rule: No such file or directory', 'table inet stci_fault_0'], stderr);
  });

  check('nothing passes, but on loopback, until their time is over', () => {
    const { stdout, stderr } = inNamespace([
      'ip link set lo up; ip link add v0 type veth peer name v1; ip link set v0 up; ip link set v1 up',
      'ip address add 10.9.0.1/24 dev v0; ip neighbour add 10.9.0.2 lladdr 02:00:00:00:00:02 dev v0',
      'node="$2"; code="$3"',
      '"$node" -e "$code" 10.9.0.2; nft "$1"; "$node" -e "$code" 10.9.0.2; "$node" -e "$code" 127.0.0.1',
      'until [ "$("$node" -e "$code" 10.9.0.2)" = sent ]; do sleep 0.1; done; echo flows',
    ].join('\n'), injectText(0, 'a', complete(), 3000), process.execPath, SEND);
    assert.equal(stdout.trim().split('\n'), ['sent', 'EPERM', 'sent', 'flows'], stderr);
  });
});

suite('fault network: machine', (test) => {
  const open = (): FaultMachine => module.open({ order: order(), body: { apartFrom: 'k' }, random: () => 0.5 });
  const shown = (actions: readonly FaultAction[]): string[] => actions.map((action) =>
    (action.type === 'run' ? `${action.key} ${/stci_fault_\d/u.exec(action.args.at(-1) ?? '')?.[0]}`
      : action.type === 'failed' ? action.reason : action.type));
  const pass = (machine: FaultMachine, ...events: readonly (string | { problem: string })[]): string[] =>
    events.flatMap((event) => shown(machine.on(typeof event !== 'string' ? { type: 'done', key: 'k', ...event }
      : event === 'done' ? { type: 'done', key: 'k' } : { type: event as 'inject' }, 0)));
  const text = 'it cannot be made that nothing passes between host 1 and anywhere else, of programs neither';

  test('tries, tells, makes when it was told, removes', () => {
    assert.equal(pass(open(), 'inject', 'done'), ['try stci_fault_0', 'injected']);
    assert.equal(pass(open(), 'set-up', 'inject', 'done', 'done', 'done', 'undo', 'done', 'tear-down'),
      ['try stci_fault_0', 'injected', 'make stci_fault_0', 'remove stci_fault_0', 'undone']);
  });

  test('takes the next table if one is another fault\'s, and none if all are', () => {
    const taken = { problem: 'nft: File exists' };
    assert.equal(pass(open(), 'inject', taken, 'done', 'done'), ['try stci_fault_0', 'try stci_fault_1', 'injected',
      'make stci_fault_1']);
    const all = pass(open(), 'inject', ...Array.from({ length: 8 }, () => taken));
    assert.equal(all.slice(7), ['try stci_fault_7', `${text}: 8 such faults last there, the most there may be`]);
  });

  test('what a host cannot do is not reported as done', () => {
    assert.equal(pass(open(), 'inject', { problem: 'not permitted' }), ['try stci_fault_0', `${text}: not permitted`]);
  });

  test('undone before it is made, it is removed afterwards; a table that is gone is no problem', () => {
    assert.equal(pass(open(), 'inject', 'undo', 'done'), ['try stci_fault_0', 'undone']);
    const machine = open();
    assert.equal(pass(open(), 'inject', 'done', 'undo', 'done'), ['try stci_fault_0', 'injected', 'undone']);
    assert.equal(pass(machine, 'inject', 'done', 'done', 'undo', 'done').slice(3), ['remove stci_fault_0']);
    assert.equal(pass(machine, { problem: 'nft: No such file or directory' }), ['undone']);
    assert.equal(pass(open(), 'inject', 'done', 'done', 'done', 'undo', { problem: 'hung' }).slice(4),
      ['it goes on for as long as was ordered: hung']);
  });
});
