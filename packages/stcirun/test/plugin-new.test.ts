/**
 * `stci plugin new`, as a user has it: from the packed packages, outside of the workspace. Of each framework a package
 * is made, its suite runs, what its README shows is run, and it is compiled if it is TypeScript.
 */
// @timeoutMs 600000
// @sameFor user, node: a package's files, whose modes are plugin-made's; how they load is plugin-check's.

import { spawnSync } from 'node:child_process';
import {
  existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, patient, suite } from '@stci/testkit';
import { install } from './installed.js';

const LONG = { timeoutMs: 120_000 };
const TEMPLATES = fileURLToPath(new URL('../templates', import.meta.url));
const TSC = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
const FRAMEWORKS = readdirSync(TEMPLATES).sort();

suite('stci plugin new', (test) => {
  let place = '';
  test.before(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-new-')));
    mkdirSync(join(place, 'installed'));
    install(join(place, 'installed'), '@stci/finject-cli');
    mkdirSync(join(place, 'bin'));
    for (const [name, owner] of [['stci', 'stcirun'], ['stcirun', 'stcirun'], ['finject', 'finject-cli']] as const) {
      symlinkSync(join(place, `installed/node_modules/@stci/${owner}/bin/${name}.cjs`), join(place, 'bin', name));
    }
  }, LONG);
  test.after(() => rmSync(place, { recursive: true, force: true }), LONG);

  const shell = (script: string, wdir = place): { code: number | null; output: string } => {
    const { status, stdout } = spawnSync('bash', ['-c', `exec 2>&1\nset -e\n${script}`], {
      cwd: wdir, encoding: 'utf8', timeout: patient(110_000),
      env: {
        ...process.env, PATH: `${join(place, 'bin')}:${dirname(process.execPath)}:${process.env['PATH']}`,
        XDG_CACHE_HOME: join(place, 'cache'), HOME: place, STCI_MCA_session_directory: join(place, 'sessions'),
        STCI_TEST_RECORD: '',
      },
    });
    return { code: status, output: stdout };
  };
  const succeeds = (script: string, wdir?: string): string => {
    const { code, output } = shell(script, wdir);
    assert.is(code, 0, `$ ${script}\n${output}`);
    return output;
  };

  for (const framework of FRAMEWORKS) {
    test(`${framework}: it is made, and found by its name`, () => {
      const output = succeeds(`stci plugin new ${framework} my-${framework}`);
      assert.match(output, `${framework}:my${framework} of package my-${framework}, in ${place}/my-${framework}\n`);
      const shown = succeeds(`stci info ${framework}:my${framework} --plugin ./my-${framework}`);
      assert.match(shown, `component ${framework}:my${framework} 1.0.0`);
    }, LONG);

    test(`${framework}: its suite passes`, () => {
      const output = succeeds('node test.js', join(place, `my-${framework}`));
      assert.match(output, `my${framework}`);
    }, LONG);

    test(`${framework}: what its README shows works`, () => {
      const directory = join(place, `my-${framework}`);
      const text = readFileSync(join(directory, 'README.md'), 'utf8');
      const commands = /^```sh\n([\s\S]*?)^```$/mu.exec(text)?.[1] ?? '';
      // The suite has been run.
      succeeds(commands.replace(/^npm test$/mu, ''), directory);
    }, LONG);

    test(`${framework}: in TypeScript it is there at once, and compiles`, () => {
      succeeds(`stci plugin new ${framework} @lab/ts-${framework} --typescript --dir typed-${framework}`);
      const directory = join(place, `typed-${framework}`);
      const info = `stci info ${framework}:ts${framework} --plugin .`;
      const before = succeeds(info, directory);
      rmSync(join(directory, 'dist'), { recursive: true });
      succeeds(`node '${TSC}' -p .`, directory);
      assert.is(succeeds(info, directory), before);
    }, LONG);
  }

  test('nothing of the templates\' names is left, and nothing outside of the package is named', () => {
    for (const framework of FRAMEWORKS) {
      for (const file of ['package.json', 'index.js', 'test.js', 'README.md']) {
        const text = readFileSync(join(place, `my-${framework}`, file), 'utf8');
        assert.not.ok(/\bsample\b/u.test(text) || text.includes(place), `my-${framework}/${file}`);
      }
    }
  });

  test('what cannot be made is refused, and leaves nothing', () => {
    const refusals = [
      ['topology tree', 193, /would have component topology:tree, which STCI has/u],
      ['topolgy my-x', 193, /no template of framework 'topolgy'\. Did you mean topology/u],
      ['bootcom my-x', 193, /no template of framework 'bootcom'/u],
      ['topology My-X', 193, /'My-X' is no name of a package/u],
      ['topology ../x', 193, /is no name of a package/u],
      ['topology my-x --dir no/such/parent', 193, /There is no directory .*no\/such/u],
      ['topology my-topology', 193, /my-topology exists, and nothing is overwritten/u],
      ['topology', 193, /Missing: NAME\. See stci help plugin new\./u],
    ] as const;
    writeFileSync(join(place, 'my-topology/own.txt'), 'mine');
    for (const [words, code, says] of refusals) {
      const run = shell(`stci plugin new ${words}`);
      assert.match(run.output, says);
      assert.ok(code === undefined ? run.code !== 0 : run.code === code, `${words}: ${run.code}`);
    }
    assert.is(readFileSync(join(place, 'my-topology/own.txt'), 'utf8'), 'mine');
    assert.not.ok(existsSync(join(place, 'my-x')) || existsSync(join(place, 'tree')));
  }, LONG);
});
