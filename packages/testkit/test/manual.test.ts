/** The manual pages: text is escaped, and man(1) has no warning. That they are current is a test of the reference. */

import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { ROOT } from './documents.js';

interface Manifest {
  readonly files: readonly string[];
  readonly man: readonly string[];
}

const PACKAGES = ['stcirun', 'finject-cli', 'client'].map((name) => join('packages', name));
const manifestOf = (path: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8')) as Manifest;
const PAGES = PACKAGES.flatMap((path) => manifestOf(path).man.map((page) => join(path, page)));

/** What the generator's functions make of these texts. */
function made(call: string, texts: readonly string[]): string[] {
  const script = `import * as roff from './scripts/lib/reference/roff.mjs';
process.stdout.write(JSON.stringify(JSON.parse(process.argv[1]).map(${call})));`;
  const argv = ['--input-type=module', '-e', script, JSON.stringify(texts)];
  const { stdout, stderr } = spawnSync(process.execPath, argv, { cwd: ROOT, encoding: 'utf8' });
  assert.is(stderr, '');
  return JSON.parse(stdout) as string[];
}

const NASTY = [
  '.TH x', "'ft B", 'a\n.br\nb', 'back\\slash \\fB', '--long-option', "it's `x` ^ ~ \"y\"", 'ü … 𝄞', '\\', '.', '...',
  '\\n[.T]', 'a  b',
];

suite('manual pages', (test) => {
  test('no text begins a request, and each character is itself', () => {
    assert.equal(made('(text) => roff.roff(text)', ['.TH x', "'ft", 'a\\b', '-n', '"', 'é', 'a\n.b']),
      ['\\&.TH x', '\\(aqft', 'a\\eb', '\\-n', '\\(dq', '\\[u00E9]', 'a\n\\&.b']);
    assert.equal(made('(text) => roff.prose(text)', ['see [the page](a.md#b), `--a_b*`', '`code`\n.TH']),
      ['see the page, \\fB\\-\\-a_b*\\fR', '\\fBcode\\fR\n\\&.TH']);
  });

  const hasGroff = spawnSync('groff', ['--version']).status === 0;
  test.skipIf(!hasGroff, 'groff is not on this machine', 'groff gives nasty text back as it was', () => {
    const [page = ''] = made('(texts) => roff.manual(roff.literal(texts))', [NASTY.join('\n')]);
    const input = `.TH X 1\n.ll 200n\n${page}`;
    const { stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww'], { input, encoding: 'utf8' });
    assert.is(stderr, '');
    const shown = stdout.replace(/\u001b\[[\d;]*m|.\u0008/g, '').split('\n').map((line) => line.trim());
    const lines = NASTY.join('\n').split('\n');
    assert.equal(lines.filter((line) => !shown.includes(line)), []);
  });

  const hasMan = spawnSync('man', ['--version']).status === 0;
  for (const page of PAGES) {
    test.skipIf(!hasMan, 'man is not on this machine', `${page}: man has no warning`, () => {
      const argv = ['-l', '--warnings', '-E', 'UTF-8', join(ROOT, page)];
      const env = { ...process.env, LC_ALL: 'C', MANPAGER: 'cat' };
      const { status, stdout, stderr } = spawnSync('man', argv, { encoding: 'utf8', env });
      assert.equal([status, stderr], [0, '']);
      for (const heading of ['NAME', 'DESCRIPTION', 'SEE ALSO']) assert.match(stdout.replace(/.\u0008/g, ''), heading);
    }, { timeoutMs: 20_000 });
  }

  test.skipIf(!hasMan, 'man is not on this machine', 'man finds them beside the commands that setup links', () => {
    const path = `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`;
    const env = { ...process.env, PATH: path, MANPATH: undefined };
    const names = PAGES.map((page) => basename(page).replace(/\.\d$/, ''));
    const { stdout } = spawnSync('man', ['-w', ...names], { encoding: 'utf8', env });
    assert.equal(stdout.trim().split('\n').map((path) => realpathSync(path)), PAGES.map((page) => join(ROOT, page)));
  });

  test('the packages contain them', () => {
    assert.equal(PAGES.map((page) => page.replace(/^.*\//, '')),
      ['stcirun.1', 'stci.1', 'stci.conf.5', 'finject.1', 'stci-client.1']);
    for (const path of PACKAGES) assert.ok(manifestOf(path).files.includes('man'), path);
  });
});
