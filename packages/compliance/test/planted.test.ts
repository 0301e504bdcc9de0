/**
 * Bugs planted one at a time into the components of `stci plugin new`, of kinds that the suites had once missed: state
 * that instances share, sizes that need another bit, input that is changed, parameters at their bounds, other clocks.
 * Each is found, by the promise that it breaks.
 */

// @timeoutMs 600000
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  BrokenPromise, asFound, collectTests, detectorCompliance, errmgrCompliance, faultCompliance, launcherCompliance,
  notifierCompliance, topologyCompliance, type CollectedTest,
} from '@stci/compliance';
import { launcherProcSuites } from '@stci/compliance/launcherproc';
import type { AnyComponent } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { judging } from './examples.js';

const PACKAGES = fileURLToPath(new URL('../..', import.meta.url));
const LONG = { timeoutMs: 100_000 };

const KITS: Readonly<Record<string, (component: AnyComponent) => void>> = {
  topology: (component) => topologyCompliance(component, [{ label: 'ring', avoidsDead: true }]),
  launcher: (component) => launcherCompliance(component, [{ label: 'default' }]),
  errmgr: (component) => errmgrCompliance(component),
  fault: (component) => faultCompliance(component),
  detector: (component) => detectorCompliance(component, [
    { label: 'fast', params: { period: '100ms', timeout: '300ms' }, seeds: 3 },
  ]),
  notifier: (component) => notifierCompliance(component, { seeds: 20 }),
  launcherproc: (component) => launcherProcSuites(component, [{ label: 'default', real: false }]),
};

type Edit = readonly [from: string, to: string];

/** The notifier's relay is told something else than `event`. */
function relaying(event: string): Edit[] {
  return [
    ['createRelay, defineComponent', 'createRelay as relayOf, defineComponent'],
    ['export const', 'const createRelay = (...given) => { const relay = relayOf(...given);\n'
      + `return { get dueMs() { return relay.dueMs; }, on: (event, nowMs) => relay.on(${event}, nowMs) }; };\n`
      + 'export const'],
  ];
}

/** The notifier's relay, as `relay`, is asked by this code, which has `event`, `nowMs`, and what `state` declares. */
function asking(answer: string, state = '', due = 'relay.dueMs'): Edit[] {
  return [
    ['createRelay, defineComponent', 'createRelay as relayOf, defineComponent'],
    ['export const', `const createRelay = (...given) => { const relay = relayOf(...given);\n${state}\n`
      + `return { get dueMs() { return ${due}; }, on: (event, nowMs) => { ${answer} } }; };\nexport const`],
  ];
}

/** The notifier's relay sees other `members`, with what `wrong` has in their place; `seen` looks at each `event`. */
function viewing(wrong: string, state = '', seen = ''): Edit[] {
  return [
    ['createRelay, defineComponent', 'createRelay as relayOf, defineComponent'],
    ['export const', `const createRelay = ({ members, ...init }, rule) => {\n${state}\nconst wrong = ${wrong};\n`
      + 'const view = { get size() { return members.size; }, get absent() { return wrong.absent ?? members.absent; },\n'
      + 'at: (position) => wrong.at(position) };\nconst relay = relayOf({ ...init, members: view }, rule);\n'
      + `return { get dueMs() { return relay.dueMs; }, on: (event, nowMs) => { ${seen}\n`
      + 'return relay.on(event, nowMs); } }; };\nexport const'],
  ];
}

/** Framework, the promise that breaks, what is planted. */
const PLANTED: readonly (readonly [string, string, ...Edit[]])[] = [
  ['topology', 'turns', ['const around = ', 'const at = { root: 0 };\nconst around = '],
    ['spanningTree: (root) => {', 'spanningTree: (root) => { at.root = root;'],
    ['const steps = around(position - root);', 'const steps = around(position - at.root);']],
  ['topology', 'route', ['dead?.has(source)', 'dead.has(source)']],
  ['topology', 'diameter', ['Math.floor(size / 2),', 'Math[size > 63 ? "ceil" : "floor"](size / 2),']],
  ['launcher', 'same', ['create: (_deps, params) => ({',
    "create: (_deps, params) => (globalThis.planted = params['group'], {"],
    ["index % Number(params['group'])", 'index % Number(globalThis.planted)']],
  ['launcher', 'pure', ['parents: hosts.map(', 'parents: hosts.sort((a, b) => a.name.length - b.name.length\n'
    + '|| (a.name < b.name ? -1 : 1)).map(']],
  ['launcher', 'tree', ['return index === first',
    'return hosts.length === 256 && index === 99 ? 99 : index === first']],
  ['launcher', 'tree', ['const first =',
    "const first = params['group'] === 1024 ? 1024 * Math.ceil((index + 1) / 1024) :"]],
  ['errmgr', 'job', ["return [{ type: isOver", "return context.failuresBefore > 2 ? [] : [{ type: isOver"]],
  ['errmgr', 'pause', ['afterMs: 100', 'afterMs: [100, 200, 400][attempt - 1]']],
  ['errmgr', 'policy', ['toleratesFailures: true,',
    "toleratesFailures: true, policyOf: ({ kind }) => (kind === 'session-lost' ? '' : 'sample'),"]],
  ['errmgr', 'bound', ["attempt <= Number", '(attempt & 255) <= Number']],
  ['errmgr', 'pure', ["attempt <= Number", 'Date.now() % 2 === 0 && attempt <= Number']],
  ['fault', 'plan', ['place.hostOf(victim.rank) :', 'place.hostOf(victim.rank) ?? 0 :']],
  ['fault', 'undo', ["if (isUndoing) return event.key === 'continue' ? [{ type: 'undone' }] : [];",
    "if (isUndoing && event.key === 'continue') return [{ type: 'undone' }];"]],
  ['fault', 'clean', ["signal: 'SIGCONT', whom", "signal: 'SIGCONT', whom: 'process'"]],
  ['fault', 'site', ['[victim.rank] :', '[victim.rank, victim.rank + 1] :']],
  ['fault', 'pure', ['let isUndoing = false;', ''], ['/** @type', 'let isUndoing = false;\n/** @type'],
    ["case 'inject':", "case 'inject': isUndoing = false;"]],
  ['detector', 'links', ['default:\n                return [];',
    "case 'link': throw new Error('none');\ndefault: return [];"]],
  ['detector', 'refuted', ["case 'gone':\n              case 'refuted':", "case 'gone':"]],
  ['detector', 'joined', ['if (isStarted)', 'if (event.member.position < size && isStarted)'],
    ['let isStarted', 'const { size } = members;\nlet isStarted']],
  ['detector', 'interval', ['position > self.position)', 'position > self.position && position < 16)']],
  ['notifier', 'quiet', ['to < size; to++', 'to < Math.min(size, 1040); to++']],
  ['detector', 'interval', ['position > self.position)', 'position > self.position && position < 250)']],
  ['detector', 'interval', ["nowMs, { cause: 'silent' }", "nowMs, { cause: 'silent', graceMs: 200 }"]],
  ['detector', 'interval', ['timeoutMs + confirmMs + latencyBoundMs', 'timeoutMs + 100 + latencyBoundMs']],
  ['detector', 'quiet', ['prober.watch(next, nowMs,', 'prober.watch(next, nowMs | 0,']],
  ['detector', 'quiet', ["case 'message': {", "case 'message': { if (++heard > 1024) return [];"],
    ['let isStarted', 'let heard = 0;\nlet isStarted']],
  ['detector', 'quiet', ['let isStarted = false;', ''], ['export const', 'let isStarted = false;\nexport const'],
    ['const prober =', "const prober = self.position === 1 ? new Prober({ ...times, timeoutMs: 1 }) :"]],
  ['detector', 'standstill', ['prober.onLag(event.lagMs);', 'prober.onLag(200 * event.lagMs);']],
  ['detector', 'standstill', ['prober.onLag(event.lagMs);',
    "if (event.lagMs > 700) return [{ type: 'report', failed: self,"
    + "cause: 'silent', evidence: 'lag', suspectedMs: nowMs }];"]],
  ['detector', 'standstill', ['prober.on(event.from, probe, nowMs);',
    "prober.on(event.from, probe, nowMs).filter(({ type }) => type !== 'trust');"]],
  ['detector', 'joined', ['const alive = members.living();',
    'const alive = members.living().filter(({ position }) => position <= size);'],
    ['let isStarted', 'const { size } = members;\nlet isStarted']],
  ['detector', 'left', ['const alive = members.living();', ''], ['if (isStarted)',
    'if (isStarted) alive = members.living();\nif (isStarted)'],
    ['let isStarted', 'let alive = members.living();\nlet isStarted']],
  ['detector', 'refuted', ["case 'refuted':",
    "case 'refuted': if (event.type === 'refuted' && event.member.incarnation > 1) return [];"]],
  ['detector', 'refuted', ["case 'refuted':",
    "case 'refuted': if (event.type === 'refuted' && event.member.position > 0 "
    + '&& ++refuted > 1) return [];'], ['let isStarted', 'let refuted = 0;\nlet isStarted']],
  ['detector', 'restart', ["case 'message': {", "case 'message': { if (event.from.incarnation > 2) return [];"]],
  ['detector', 'restart', ['const alive = members.living();',
    'const alive = members.living().filter(({ incarnation }) => incarnation < 3);']],
  ['detector', 'same', ['let watched = self.position;', 'at[self.position] ??= self.position;'],
    ['if (watched !== next.position && watched !== self.position) prober.unwatch(watched);',
      'if (at[self.position] !== next.position && at[self.position] !== self.position) '
      + 'prober.unwatch(at[self.position]);'],
    ['watched = next.position;', 'at[self.position] = next.position;'],
    ['if (watched !== self.position) prober.watch', 'if (next.position !== self.position) prober.watch'],
    ['export const', 'const at = {};\nexport const']],
  ['notifier', 'gone', ['to < size; to++', 'to < Math.min(size, 3000); to++']],
  ['notifier', 'payload', ...relaying("event.type === 'broadcast' "
    + '? { ...event, payload: event.payload.slice(0, 300).fill(1, 290) } : event')],
  ['notifier', 'payload', ...relaying("event.type === 'broadcast' ? { ...event, payload: new Uint8Array("
    + 'event.payload.buffer) } : event')],
  ['notifier', 'incarnation', ...viewing('{ at: (position) => (members.at(position)?.incarnation > 2 ? undefined '
    + ': members.at(position)) }')],
  ['topology', 'diameter', ['Math.floor(size / 2),', 'size === 255 ? 128 : Math.floor(size / 2),']],
  ['topology', 'diameter', ['Math.floor(size / 2),', 'size === 1025 ? 600 : Math.floor(size / 2),']],
  ['topology', 'tree', ['return steps > 0 ? ahead', 'return steps > 0 ? (size === 511) + ahead']],
  ['topology', 'detour', ['nextHop: (source, target, dead) => {',
    'nextHop: (source, target, dead) => { if (dead?.size > 15) dead.delete([...dead][0]);']],
  ['launcher', 'params', ["Number(params['group'])", '16']],
  ['launcher', 'tree', ['return index === first',
    'return hosts.length > 60_000 && index === 99 ? 99 : index === first']],
  ['launcher', 'tree', ['return index === first',
    "return index === 1 && hosts[0].name.startsWith('Node') ? 1 : index === first"]],
  ['launcher', 'pure', ['parents: hosts.map(', 'parents: hosts.sort((a, b) => (a.origin < b.origin ? -1 : 1)).map(']],
  ['detector', 'standstill', ['prober.onLag(event.lagMs);',
    'prober.onLag(event.lagMs); isStarted &&= event.lagMs < 150;']],
  ['notifier', 'quiet', ['to < size; to++', 'to < (size === 2048 ? 2000 : size); to++']],
  ['notifier', 'quiet', ['params: {}', "params: { most: { type: 'int', default: 9, min: 1, max: 9, help: 'Most.' } }"],
    ['create: () =>', 'create: (_deps, params) =>'],
    ['to < size; to++', 'to < (params.most < 9 ? Math.min(size, 3) : size); to++']],
  ['notifier', 'gone', ...viewing('{ get absent() { return new Set([...members.absent].slice(0, 60)); },\n'
    + 'at: (position) => members.at(position) ?? { position } }')],
  ['notifier', 'repeated', ...relaying("event.type === 'broadcast' && (relay.sent = (relay.sent ?? 0) + 1) > 65_536"
    + "? { type: 'gone', member: { position: 99, incarnation: 1 } } : event")],
  ['errmgr', 'local', ["failure.kind === 'tool-signal' &&", "(failure.kind === 'tool-signal'"
    + "|| (failure.kind === 'tool-start' && attempt === 2 && failure.exitCode === 255)) &&"]],
  ['errmgr', 'pause', ['afterMs: 100', 'afterMs: failure.wallMs > 1e9 ? -1 : 100']],
  ['errmgr', 'job', ['return [{ type: isOver', 'return context.ranksAlive === 1 ? [] : [{ type: isOver']],
  ['fault', 'site', ['[victim.rank] :', '[victim.rank || 1] :']],
  ['fault', 'order', ['problemOf: () => undefined',
    "problemOf: ({ victim }) => (victim.kind === 'rank' && victim.rank > 100 ? '' : undefined)"]],
  ['fault', 'refused', ["case 'done':", "case 'done': if (isUndoing && event.problem !== undefined) return [];"]],
  ['fault', 'inject', ['open: ({ order: { args, victim } })', 'open: ({ order: { args, victim, job } })'],
    ["case 'inject':", "case 'inject': if (job !== 1) return [];"]],
  ['launcherproc', 'several', ['return processes.spawnAgent', "if (count++ > 2) throw new Error('three only');\n"
    + 'return processes.spawnAgent'], ['const { processes } = platform;',
    'const { processes } = platform; let count = 0;']],
  ['launcherproc', 'several', ['return processes.spawnAgent', "if (count++ > 0) throw new Error('one only');\n"
    + 'return processes.spawnAgent'], ['const { processes } = platform;',
    'const { processes } = platform; let count = 0;']],
  ['launcherproc', 'name', ["name: 'sample',\n      //", "name: 'other',\n      //"]],
  ['launcherproc', 'params', ['[...prefix, ...processes', '[...prefix.slice(0, 1), ...processes']],
  ['launcherproc', 'params', ['const prefix = Array', 'const prefix = kept ??= Array'],
    ['export const', 'let kept;\nexport const']],
  ['launcherproc', 'method', ["if (start.method === 'inline') return inline(start, events);", '']],
  ['launcherproc', 'method', ['return inline(start, events)', 'return inline({ ...start, waitMs: 1 }, events)']],
  ['launcherproc', 'method', ['return inline(start, events)',
    'return inline(start, { ...events, onDiagnostic: () => undefined })']],
  ['launcherproc', 'method', ['spawnAgent(start.method,', "spawnAgent('process',"]],
  ['launcherproc', 'asks', ['reachHere(platform, reach,', 'reachHere(platform, { ...reach, waitMs: 1 },']],
  ['launcherproc', 'asks', ['reachHere(platform, reach, events)',
    '({ ...reachHere(platform, reach, events), isConnection: false })']],
  ['launcherproc', 'exits', ['command, events)',
    "command, { ...events, onExit: (end) => events.onExit({ ...end, evidence: 'connection' }) })"]],
  ['launcherproc', 'leaves', ['reach: (reach, events) => reachHere(platform, reach, events)',
    'reach: (reach, events) => {\nconst one = reachHere(platform, reach, events);\nall.push(one);\n'
    + 'const kill = () => all.forEach((each) => each.kill());\n'
    + 'return { channel: one.channel, pid: 0, isConnection: true, kill };\n}'],
    ['export const', 'const all = [];\nexport const']],
  ['launcherproc', 'speaks', ['command, events)',
    'command, { ...events, onDiagnostic: (line) => events.onDiagnostic(line.slice(0, 80)) })']],
  ['launcherproc', 'speaks', ['command, events)', 'command, { ...events, onDiagnostic: () => undefined })']],
  ['topology', 'turns', ['const next = [];', 'const next = kept; kept.length = 0;'],
    ['spanningTree: (root) => {', 'spanningTree: (root) => { const kept = [];']],
  ['topology', 'route', ['[...(dead ?? [])].map', '[...(dead ?? [])].slice(0, 32).map']],
  ['topology', 'request', ['request, []', "request, ['ways']"], ['const { kind, size } = request;',
    "const { kind, size } = request; const ways = Number(request.options?.ways ?? 1);\n"
    + "if (!(ways >= 1 && ways <= 2)) throw topologyError('sample', 'option ways', '1 or 2', ways);"],
    ['accept, ', 'accept, topologyError, '],
    ['params: {}', "params: { ways: { type: 'int', default: 1, min: 1, max: 2, help: 'Ways.' } }"]],
  ['topology', 'diameter', ['request, []', "request, ['ways']"], ['params: {}',
    "params: { ways: { type: 'int', default: 1, min: 1, max: 9, help: 'Ways.' } }"],
    ['Math.floor(size / 2),', 'Math.floor(size / 2) + (request.options?.ways === 9 ? 1 : 0),']],
  ['topology', 'diameter', ['const ahead = around(target - source);',
    'const ahead = around((target & 0xffff) - source);']],
  ['launcher', 'same', ['parents: hosts.map(', 'parents: kept.splice(0, Infinity, ...hosts.map('],
    ['first;\n      }),', 'first;\n      })) && kept,'],
    ['create: (_deps, params) => ({', 'create: (_deps, params, _request, kept = []) => ({']],
  ['launcher', 'tree', ['return index === first',
    'return hosts.length === 243 && index === 99 ? 99 : index === first']],
  ['launcher', 'same', ['tree: (hosts) => ({',
    'tree: (hosts) => { const groups = {};\nhosts.forEach(({ name }, index) => '
    + "(groups[name.replace(/\\d+$/, '')] ??= []).push(index));\nreturn {"], ['}),\n    }),', '}),\n    }; },']],
  ['launcher', 'same', ["const first =", "if (params['group'] === 2 && index > 3 && Math.random() < 0.5) return 0;\n"
    + 'const first =']],
  ['launcher', 'pure', ['parents: hosts.map(', "parents: (params['group'] === 2 ? hosts.reverse() : hosts).map("]],
  ['launcher', 'policy', ["policy: 'sample',", "hosts: 0,\nget policy() { return this.hosts > 0 ? '' : 'sample'; },"],
    ['tree: (hosts) => ({', 'tree(hosts) { this.hosts = hosts.length;\nreturn {'], ['}),\n    }),', '}),\n    }; },']],
  ['errmgr', 'pause', ['afterMs: 100', 'afterMs: 100 * (1 << (attempt - 1))']],
  ['errmgr', 'pause', ['[decideOnHost(hosts, context)]',
    "[context.phase !== 'launching' && hosts.loss === 'start-again'\n"
    + "&& context.starts <= hosts.lossRetries ?\n"
    + "{ type: 'start-again', afterMs: hosts.lossPauseMs * 2 ** context.starts }"
    + ': decideOnHost(hosts, context)]']],
  ['errmgr', 'session', ['[decideOnHost(hosts, context)]',
    '[{ ...decideOnHost(hosts, context), reason: context.starts > 2 ? context.starts : undefined }]']],
  ['errmgr', 'local', ['const isAgain =', "const isAgain = (failure.kind === 'tool-start' && attempt === 1\n"
    + "&& failure.error.code !== 'STCI_PROGRAM_NOT_FOUND') ||"]],
  ['errmgr', 'job', ['return [{ type: isOver', "return failure.error.data.fatal ? [] : [{ type: isOver"]],
  ['errmgr', 'policy', ['toleratesFailures: true,',
    "toleratesFailures: true, policyOf: ({ rank }) => (rank > 200 ? '' : 'sample'),"]],
  ['errmgr', 'pure', ['toleratesFailures: true,',
    'toleratesFailures: true, '
      + "policyOf: ({ rank }) => (rank === undefined || Date.now() % 3 > 0 ? 'sample' : 'other'),"]],
  ['notifier', 'repeated', ...asking("return relay.on(event, nowMs).filter((one) => one.type !== 'deliver'\n"
    + '|| seen.size !== seen.add(JSON.stringify([one.source, [...one.payload]])).size);', 'const seen = new Set();')],
  ['notifier', 'repeated', ...asking('count = nowMs === lastMs ? count + 1 : 0;\nlastMs = nowMs;\n'
    + "return event.type === 'broadcast' && count > 128 ? [] : relay.on(event, nowMs);",
    'let [count, lastMs] = [0, 0];')],
  ['notifier', 'joined', ...viewing('{ at: (position) => (late.has(position) ? undefined : members.at(position)) }',
    'const late = new Set();\nlet most = 0;', "if (event.type === 'joined') {\nconst { position } = event.member;\n"
    + 'if (position < most) late.add(position);\nmost = Math.max(most, position);\n}')],
  ['notifier', 'gone', ...asking("const actions = relay.on(event, nowMs);\nconst [one] = actions;\n"
    + "return isFew && one?.type === 'send' ? [{ ...one, to: 4 }, ...actions] : actions;",
    'const all = given[0].members.living();\nconst isFew = all.length === 8 && all[7].position > 1000;')],
  ['notifier', 'quiet', ...asking('lastMs = nowMs;\nreturn relay.on(event, nowMs);', 'let lastMs;',
    'lastMs === undefined ? undefined : lastMs + 1')],
  ['detector', 'joined', ["case 'joined':",
    "case 'joined': if (event.type === 'joined' && ++joins > 4) throw new Error('full');"],
    ['let isStarted', 'let joins = 0;\nlet isStarted']],
  ['detector', 'refuted', ["case 'refuted':",
    "case 'refuted': if (event.type === 'refuted' && event.member.position > 0 "
    + '&& ++refuted > 2) return [];'], ['let isStarted', 'let refuted = 0;\nlet isStarted']],
  ['detector', 'quiet', ['default:\n                return [];',
    "case 'waiting': return isStarted ? [] : undefined;\ndefault: return [];"]],
  ['detector', 'standstill', ['prober.onLag(event.lagMs);', "if (!isStarted) throw new Error('not yet started');\n"
    + 'prober.onLag(event.lagMs);']],
  ['detector', 'refuted', ["case 'refuted':",
    "case 'refuted': if (!isStarted && event.type === 'refuted') throw new Error('not yet started');"]],
  ['fault', 'inject', ['dueMs: undefined,', 'get dueMs() { return dueMs; },'], ['let isUndoing = false;',
    'let isUndoing = false;\nlet dueMs;'], ['on: (event) => {', 'on: (event, nowMs) => {'],
    ["case 'inject':", "case 'inject': dueMs = nowMs + 10; return [];\ncase 'due':\n"
    + 'if (nowMs !== dueMs) return (dueMs = undefined, []);\ndueMs = undefined;']],
  ['fault', 'plan', ["victims: ['rank']", "victims: ['rank', 'agent']"], ["victim.kind === 'rank' ? place.hostOf",
    "victim.kind === 'agent' ? (place.isUp(victim.host) ? victim.host : undefined)\n"
    + ": victim.kind === 'rank' ? place.hostOf"]],
  // Planted last of each framework.
];

/** The promises that these tests find broken, until this one is. */
async function foundBy(tests: readonly CollectedTest[], framework: string, promise: string): Promise<string[]> {
  const names: string[] = [];
  for (const one of judging(tests, promise)) {
    for (const thrown of await one.run()) names.push(thrown instanceof BrokenPromise ? thrown.promise : String(thrown));
    if (names.includes(`${framework}.${promise}`)) break;
  }
  return names;
}

suite('planted bugs', (test) => {
  let place = '';
  test.before(() => {
    place = mkdtempSync(join(tmpdir(), 'stci-planted-'));
    mkdirSync(join(place, 'node_modules'));
    const linked = join(PACKAGES, 'stcirun/node_modules/@stci');
    symlinkSync(linked, join(place, 'node_modules/@stci'));
    writeFileSync(join(place, 'package.json'), '{"type":"module"}');
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  for (const [index, [framework, promise, ...edits]] of PLANTED.entries()) {
    test(`${framework} ${index}: ${promise} is broken`, async () => {
      let text = readFileSync(join(PACKAGES, `stcirun/templates/${framework}/index.js`), 'utf8');
      for (const [from, to] of edits) {
        assert.ok(text.includes(from), `the template has: ${from}`);
        text = text.replace(from, () => to);
      }
      const file = join(place, `${index}.js`);
      writeFileSync(file, text);
      const { component } = await import(pathToFileURL(file).href) as { component: AnyComponent };
      const found = await asFound(() => foundBy(collectTests(() => KITS[framework]?.(component)), framework, promise));
      assert.ok(found.includes(`${framework}.${promise}`), `found: ${[...new Set(found)].join(', ') || 'nothing'}`);
    }, LONG);
  }
});
