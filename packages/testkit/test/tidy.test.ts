/** Each check of tidy on a bad sample, in a tree of a few lines, and on the good one from which it differs. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import {
  checkFolderKnots, checkFolderSizes, checkFolderTable, checkFolders,
} from '../dist/tidy/folders.js';
import { FOLDER_RULES } from '../dist/tidy/house.js';
import { checkCycles, checkDirections } from '../dist/tidy/imports.js';
import { findings } from '../dist/tidy/main.js';
import { checkLockfile, checkManifests, checkReferences } from '../dist/tidy/manifests.js';
import { checkMarkdown } from '../dist/tidy/markdown.js';
import { checkHeads, checkLines, checkPlaces } from '../dist/tidy/text.js';
import { readTree, show } from '../dist/tidy/tree.js';
import type { Finding, Tree } from '../dist/tidy/tree.js';

type Files = Readonly<Record<string, string>>;

function tree(files: Files): Tree {
  return new Map(Object.entries(files));
}

/** In pieces, since tidy reads this file, too. */
const place = (...parts: string[]): string => ['', ...parts].join('/');

/** Findings as lines of text. */
function of(check: (tree: Tree) => Finding[], files: Files): string[] {
  return check(tree(files)).map(show);
}

function only(found: readonly string[], ...says: string[]): void {
  assert.is(found.length, 1, found.join('\n'));
  for (const text of says) assert.match(found[0] as string, text);
}

function imports(path: string, code: string): string[] {
  return of(checkDirections, { [path]: code });
}

suite('tidy: import directions', (test) => {
  test('static, dynamic, re-exporting and type imports are seen', () => {
    const forms = ["import 'ws';", "import w from 'ws';", "import {\n  a,\n  b,\n} from 'ws';", "export * from 'ws';",
      "const w = await import('ws');", "type W = import('ws').W;", "import type { W } from 'ws';",
      "const a = 1; import w from 'ws';"];
    for (const form of forms) only(imports('packages/core/src/a.ts', `/** Head. */\n${form}\n`), 'platform-node');
  });

  test('the line is told', () => {
    only(imports('packages/core/src/a.ts', "/** Head. */\n\nimport 'ws';\n"), 'packages/core/src/a.ts:3');
  });

  test('comments, strings and templates are no imports', () => {
    const code = [
      "/** import 'ws'; */",
      "// import 'ws';",
      `const a = "import 'ws'"; const b = ${'`'}import 'ws'${'`'}; const c = /'/;`,
      '',
    ].join('\n');
    assert.equal(imports('packages/core/src/a.ts', code), []);
    only(imports('packages/core/src/a.ts', `${code}import 'ws';\n`), 'a.ts:4');
  });

  test('components import neither core nor each other', () => {
    only(imports('packages/topology-tree/src/a.ts', "import '@stci/core';"), '@stci/core/component');
    only(imports('packages/topology-tree/src/a.ts', "import '@stci/topology-bmg';"), 'may import only');
    assert.equal(imports('packages/topology-tree/src/a.ts', "import '@stci/core/component';"), []);
  });

  test('node:* has its places', () => {
    only(imports('packages/platform-sim/src/a.ts', "import 'node:fs';"), 'use Platform');
    assert.equal(imports('packages/platform-node/src/a.ts', "import 'node:fs';"), []);
    assert.equal(imports('packages/platform-sim/test/a.test.ts', "import 'node:fs';"), []);
  });

  test('files of other packages are out of reach', () => {
    only(imports('packages/core/src/am/a.ts', "import '../../../interface/src/ids.js';"), 'leaves its package');
    only(imports('packages/core/src/a.ts', "import '../dist/b.js';"), 'leaves src');
    only(imports('packages/core/test/a.test.ts', "import '../../stcirun/dist/b.js';"), 'leaves its package');
    only(imports('packages/stcirun/src/a.ts', "import '@stci/core/dist/b.js';"), 'no deep imports');
    assert.equal(imports('packages/core/test/a.test.ts', "import '../dist/b.js';"), []);
  });

  test('a package without a rule is told', () => {
    only(imports('packages/newcomer/src/a.ts', "import './b.js';"), 'has no rule');
  });
});

suite('tidy: cycles', (test) => {
  test('of two files, and of one with itself through types', () => {
    const files = {
      'packages/core/src/a.ts': "import './b.js';",
      'packages/core/src/b.ts': "import type { A } from './a.js';",
    };
    only(of(checkCycles, files), 'packages/core/src/a.ts → packages/core/src/b.ts → packages/core/src/a.ts');
  });

  test('a diamond is none', () => {
    const files = {
      'packages/core/src/a.ts': "import './b.js'; import './c.js';",
      'packages/core/src/b.ts': "import './d.js';",
      'packages/core/src/c.ts': "import './d.js';",
      'packages/core/src/d.ts': '',
    };
    assert.equal(of(checkCycles, files), []);
  });
});

suite('tidy: folders', (test) => {
  const many = (folder: string, count: number): Files =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`packages/${folder}/f${i}.ts`, '']));
  /** Every import that the table has, so that no row of it is found unused. */
  const whole: Files = Object.fromEntries(Object.entries(FOLDER_RULES).map(([folder, others]) =>
    [`packages/core/src/${folder}/x.ts`, others.map((other) => `import '../${other}/x.js';\n`).join('')]));

  test('have so many files at most', () => {
    for (const [folder, most] of [['core/src/boot', 20], ['swarm/src/worlds', 30], ['swarm/src', 30]] as const) {
      assert.equal(of(checkFolderSizes, many(folder, most)), []);
      only(of(checkFolderSizes, many(folder, most + 1)), `packages/${folder}: ${most + 1} files, ${most} at most`);
    }
    assert.equal(of(checkFolderSizes, many('core/test/boot', 40)), [], 'tests are many');
  });

  test('of core import what the table says, and all of it', () => {
    assert.equal(of(checkFolders, whole), []);
    const upward = { ...whole, 'packages/core/src/codec/y.ts': "import { A } from '../agent/x.js';\n" };
    only(of(checkFolders, upward), 'packages/core/src/codec/y.ts:1', 'src/codec may not import src/agent');
    const types = { ...whole, 'packages/core/src/codec/y.ts': "\n\ntype A = import('../agent/x.js').A;\n" };
    only(of(checkFolders, types), 'packages/core/src/codec/y.ts:3');
    only(of(checkFolders, { ...whole, 'packages/core/src/new/y.ts': "import '../codec/x.js';" }), 'src/new may not');
    only(of(checkFolders, { ...whole, 'packages/core/src/metrics/x.ts': '' }), 'metrics does not import codec');
    const { 'packages/core/src/metrics/x.ts': _, ...without } = whole;
    only(of(checkFolders, without), 'metrics does not import it');
    const index = { ...whole, 'packages/core/src/index.ts': "export * from './agent/x.js';" };
    assert.equal(of(checkFolders, index), [], 'the index of core exports from anywhere');
  });

  test('the table itself has no knot: each row names rows before it', () => {
    const seen = new Set<string>();
    for (const [folder, others] of Object.entries(FOLDER_RULES)) {
      assert.equal(others.filter((other) => !seen.has(other)), [], folder);
      seen.add(folder);
    }
  });

  test('of any package form no knot', () => {
    const knot = {
      'packages/swarm/src/a/x.ts': "import '../b/x.js';",
      'packages/swarm/src/b/x.ts': "import '../c/x.js';",
      'packages/swarm/src/c/x.ts': "import type { A } from '../a/y.js';",
      'packages/swarm/src/d/x.ts': "import '../a/x.js';",
    };
    only(of(checkFolderKnots, knot), 'packages/swarm/src: a cycle of folders: a → b → c → a');
    assert.equal(of(checkFolderKnots, { ...knot, 'packages/swarm/src/c/x.ts': '' }), []);
  });

  test('the document has the same table', () => {
    const row = (folder: string, others: readonly string[]): string =>
      `| \`${folder}/\` | words | ${others.map((other) => `\`${other}\``).join(', ') || 'nothing'} |`;
    const rows = Object.entries(FOLDER_RULES).map(([folder, others]) => row(folder, others));
    const text = rows.join('\n');
    assert.equal(of(checkFolderTable, { 'docs/architecture.md': text }), []);
    const other = text.replace(row('metrics', ['codec']), row('metrics', ['codec', 'event']));
    only(of(checkFolderTable, { 'docs/architecture.md': other }), 'expected a row | `metrics/` | … | `codec` |');
  });
});

function manifest(name: string, fields: object, explained = ''): Files {
  return { [`packages/${name}/package.json`]: JSON.stringify(fields), 'docs/dependencies.md': explained };
}

const WS_ROW = '| `ws` | 8.23.0 | sockets | platform-node |\n';

suite('tidy: manifests', (test) => {
  test('good ones pass', () => {
    const fields = { dependencies: { ws: '8.23.0', '@stci/interface': 'workspace:*' } };
    assert.equal(of(checkManifests, manifest('platform-node', fields, WS_ROW)), []);
  });

  test('versions are exact', () => {
    for (const version of ['^8.23.0', '8', 'latest', '8.x', '>=8.0.0']) {
      const row = WS_ROW.replace('8.23.0', version);
      only(of(checkManifests, manifest('platform-node', { dependencies: { ws: version } }, row)), 'exact version');
    }
    only(of(checkManifests, manifest('core', { dependencies: { '@stci/interface': '0.1.0' } })), 'workspace:*');
  });

  test('dependencies follow the table', () => {
    only(of(checkManifests, manifest('core', { dependencies: { ws: '8.23.0' } }, WS_ROW)), 'not allowed', 'ws');
    const upward = { dependencies: { '@stci/stcirun': 'workspace:*' } };
    only(of(checkManifests, manifest('core', upward)), 'not allowed as a dependency of core');
    only(of(checkManifests, manifest('core', { devDependencies: { ws: '8.23.0' } }, WS_ROW)), 'development dependency');
  });

  test('every dependency is explained, with its version', () => {
    const fields = { dependencies: { ws: '8.23.0' } };
    only(of(checkManifests, manifest('platform-node', fields)), 'docs/dependencies.md has no row', '`ws`');
    const old = WS_ROW.replace('8.23.0', '8.22.0');
    only(of(checkManifests, manifest('platform-node', fields, old)), 'has no row');
  });

  test('every package and its tests are built', () => {
    const files = {
      'tsconfig.json': '{ "files": [], "references": [{ "path": "packages/a" }] }',
      'packages/a/tsconfig.json': '{}',
      'packages/a/test/tsconfig.json': '{}',
    };
    only(of(checkReferences, files), 'lack packages/a/test');
  });

  test('the lockfile names no registry', () => {
    const files = { 'pnpm-lock.yaml': 'a:\n  resolution: {tarball: https://example.org/a.tgz}\n' };
    only(of(checkLockfile, files), 'pnpm-lock.yaml:2');
  });
});

suite('tidy: markdown', (test) => {
  const readme = '# R\n\n## Part 2: b!\n';
  const check = (text: string): string[] => of(checkMarkdown, { 'docs/a.md': text, 'README.md': readme });

  test('one title', () => {
    assert.equal(check('# A\n\n```sh\n# a comment\n```\n'), []);
    only(check('A\n'), 'has 0 lines');
    only(check('# A\n# B\n'), 'has 2 lines');
  });

  test('links resolve', () => {
    assert.equal(check('# A\n[x](../README.md) [y](../docs/) [z](https://example.org/)\n'), []);
    assert.equal(check('# A\n[p](../README.md#part-2-b) [q](#a)\n'), []);
    only(check('# A\n[x](b.md)\n'), 'docs/a.md:2', 'b.md leads nowhere');
    only(check('# A\n[x](../README.md#part-3)\n'), 'leads nowhere');
    only(check('# A\n[x](#b)\n'), 'leads nowhere');
  });
});

suite('tidy: text', (test) => {
  const check = (text: string): string[] => of(checkLines, { 'packages/a/src/a.ts': text });

  test('line length, tabs, trailing space, last newline', () => {
    assert.equal(check(`${'x'.repeat(120)}\n`), []);
    only(check(`${'x'.repeat(121)}\n`), '121 characters');
    only(check('a\n\tb\n'), 'a.ts:2: a tab');
    only(check('a \n'), 'white space');
    only(check('a'), 'one newline');
    only(check('a\n\n'), 'one newline');
  });

  test('a lint exception has its reason', () => {
    const disable = ['eslint', 'disable-next-line'].join('-');
    only(check(`// ${disable} eqeqeq\n`), 'needs its reason');
    assert.equal(check(`// ${disable} eqeqeq -- null and undefined alike\n`), []);
  });

  test('a file says what it is', () => {
    only(of(checkHeads, { 'packages/a/src/a.ts': 'export {};\n' }), 'must begin with a comment');
    only(of(checkHeads, { 'scripts/a.mjs': '// a\n' }), 'must begin with a comment');
    assert.equal(of(checkHeads, { 'packages/a/src/a.ts': '/** What it is. */\n' }), []);
  });

  const found = (line: string): string[] => of(checkPlaces, { 'a.md': line });

  test('no place of a machine, no registry', () => {
    for (const parts of [['home', 'ann', 'x'], ['work', 'stci'], ['root', '.npmrc'], ['data', 'x']]) {
      const named = place(...parts);
      only(found(`see ${named}`), 'names a place');
      only(found(`file://${named}`), 'names a place');
    }
    only(found(['https:', '', 'registry.example.org', 'x'].join('/')), 'names a registry');
    assert.equal(found('see /tmp/x, /home/kim/x, ~/work/x, ${root}/data/x, ../data/x, https://example.org/data/x'), []);
  });

  test('a clone has the same findings wherever it is, whoever reads it', () => {
    const above = mkdtempSync('/var/tmp/stci-tidy-');
    const files = { 'a.ts': "const paths = ['/w/p1', '/a/stci/b', '/x', '/home/u/stci/c'];\n" };
    try {
      for (const below of ['a/stci', 'x', 'tmp/t/stci', 'home/u/stci', 'with blank/stci']) {
        const root = join(above, below);
        mkdirSync(root, { recursive: true });
        execFileSync('git', ['init', '-q', root]);
        for (const [path, text] of Object.entries({ ...files, 'b.ts': `// ${root}/ is no finding\n` })) {
          writeFileSync(join(root, path), text);
        }
        assert.equal(checkPlaces(readTree(root)), [], below);
      }
    } finally {
      rmSync(above, { recursive: true });
    }
  });
});

suite('tidy: all', (test) => {
  test('every check is called', () => {
    const found = findings(tree({
      'packages/core/src/a.ts': `import 'ws';\nimport './b.js'; // ${place('data', 'x').padEnd(120)}|\n`,
      'packages/core/src/b.ts': "/** B. */\nimport './a.js';\n",
      'packages/core/package.json': '{"dependencies":{"ws":"^8"}}\n',
      'packages/core/tsconfig.json': '{}\n',
      'tsconfig.json': '{"references":[]}\n',
      'pnpm-lock.yaml': 'tarball: x\n',
      'README.md': '[x](nowhere.md)\n',
    })).map(show).join('\n');
    const says = ['platform-node', 'cycle of files', 'exact version', 'not allowed', 'no row', 'lack packages/core',
      'names a registry', 'has 0 lines', 'leads nowhere', 'at most 120', 'must begin', 'names a place'];
    for (const text of says) assert.match(found, text);
  });
});
