/** What README and docs say is there, and their commands are found to be run: documents-*.test.ts. */
// @sameFor user, node: text.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { ROOT, commands, documents, OF_USERS, scripts, shown } from './documents.js';

/** Blocks that say why they are not run; more would hide something. */
const NOT_RUN_MAX = 4;
/** Commands that are run at least; fewer means that they are no longer found. */
const RUN_MIN = 25;

const ALL = documents('README.md', 'CONTRIBUTING.md', 'docs', ...packageReadmes());

function packageReadmes(): string[] {
  const names = ['testkit', 'registry', 'swarm', 'stcirun', 'launcher-ssh', 'launcher-local'];
  return names.map((name) => `packages/${name}/README.md`).filter((path) => existsSync(join(ROOT, path)));
}

suite('documents', (test) => {
  test('few blocks are not run, each with its reason, and the others are found', () => {
    const left = scripts.filter(({ notRun }) => notRun !== undefined);
    assert.ok(left.length <= NOT_RUN_MAX, left.map(({ path, line }) => `${path}:${line}`).join(', '));
    const run = scripts.filter(({ notRun }) => notRun === undefined).flatMap(({ text }) => commands(text));
    assert.ok(run.length >= RUN_MIN, `${run.length} commands`);
  }, { timeoutMs: 30_000 });

  test('documents whose commands depend on the user show some', () => {
    for (const path of OF_USERS) assert.ok(scripts.some((block) => block.path === path), path);
  });

  test('a block of commands says that it is one', () => {
    const unmarked = shown.filter(({ language }) => language === '')
      .filter(({ text }) => /^(\$ |stcirun |stci |npm |node )/m.test(text) && !/\[[a-z]|\.\.\./.test(text));
    assert.equal(unmarked.map(({ path, line }) => `${path}:${line}`), []);
  });

  test('npm scripts that they name exist', () => {
    const { scripts: known } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    for (const [path, text] of ALL) {
      for (const [command, name = ''] of text.matchAll(/\bnpm run ([a-z-]+)/g)) {
        assert.ok(Object.hasOwn(known, name), `${path}: ${command}`);
      }
    }
  });

  test('files that they name in code exist', () => {
    const isPath = /^(?:packages|scripts|docs|lint|bench)\/[\w./-]*\w$/;
    for (const [path, text] of ALL) {
      const spans = [...text.matchAll(/`([^`\s]+)`/g), ...text.matchAll(/\bnode ((?:packages|scripts)\/\S+)/g)];
      for (const name of spans.map((match) => match[1] as string).filter((each) => isPath.test(each))) {
        const isMade = name.includes('topology-hoop');
        const exists = [ROOT, join(ROOT, dirname(path))].some((place) => existsSync(join(place, name)));
        assert.ok(isMade || exists, `${path} names ${name}, which does not exist`);
      }
    }
  });
});
