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
  BrokenPromise, collectTests, detectorCompliance, errmgrCompliance, faultCompliance, launcherCompliance,
  notifierCompliance, topologyCompliance,
} from '@stci/compliance';
import { launcherProcSuites } from '@stci/compliance/launcherproc';
import type { AnyComponent } from '@stci/interface';
import { assert, suite } from '@stci/testkit';

const PACKAGES = fileURLToPath(new URL('../..', import.meta.url));
const LONG = { timeoutMs: 100_000 };

const KITS: Readonly<Record<string, (component: AnyComponent) => void>> = {
  topology: (component) => topologyCompliance(component, [{ label: 'ring', avoidsDead: true, largeSizes: [1000] }]),
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
  ['errmgr', 'policy', ['goesOn: true,',
    "goesOn: true, policyOf: ({ kind }) => (kind === 'session-lost' ? '' : 'sample'),"]],
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
  ['detector', 'joined', ['if (table.on(event)', 'if (event.member.position < members.length && table.on(event)']],
  ['detector', 'interval', ['position > self.position)', 'position > self.position && position < 16)']],
  ['notifier', 'quiet', ['to < size; to++', 'to < Math.min(size, 1040); to++']],
  ['launcherproc', 'several', ['return processes.spawnAgent', "if (count++ > 0) throw new Error('one only');\n"
    + 'return processes.spawnAgent'], ['const { processes } = platform;',
    'const { processes } = platform; let count = 0;']],
  ['launcherproc', 'speaks', ['command, events)', 'command, { ...events, onDiagnostic: () => undefined })']],
];

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
      const names: string[] = [];
      for (const one of collectTests(() => KITS[framework]?.(component))) {
        if (!one.name.includes(promise) && !/bounds$|powers|other names/.test(one.name)) continue;
        const all = await one.run();
        names.push(...all.map((thrown) => (thrown instanceof BrokenPromise ? thrown.promise : String(thrown))));
      }
      assert.ok(names.includes(`${framework}.${promise}`), `found: ${[...new Set(names)].join(', ') || 'nothing'}`);
    }, LONG);
  }
});
