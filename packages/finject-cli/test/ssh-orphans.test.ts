/** Check `no-orphan` over real ssh: daemons of a rank on another host, which its agent does not find. */
// @timeoutMs 180000

import { mkdtempSync, rmSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readHistory } from '@stci/finject/experiment';
import { MARK_TAG, TAG_SHIFT } from '@stci/platform-node';
import { assert, killThose, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { recordsOf } from './e2e-finject.js';

const FINJECT = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));
const QUICK = ['--mca', 'bootcom.ws.interface=eth0', '--mca', 'bootcom.lease=2s', '--mca', 'tool.grace=500ms'];
const LONG = { timeoutMs: 120_000 };
const why = whyNoHosts();

suite('no-orphan over ssh', (test) => {
  let hosts: Hosts;
  let directory: string;
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    directory = mkdtempSync(join(tmpdir(), 'finject-ssh-'));
    hosts = await up(3);
  }, LONG);
  test.after(async () => {
    await hosts?.down();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  }, LONG);

  async function run(name: string, line: string): Promise<{ readonly code: number | null; readonly out: string }> {
    const options = ['-n', '3', '--host', 'h1,h2,h3', ...QUICK];
    const target = { options, program: ['sh', '-c', line] };
    const text = `name: ${name}\ntarget: ${JSON.stringify(target)}\nchecks: [exit-code: 0, no-orphan]\n`;
    writeFileSync(join(directory, `${name}.yaml`), text);
    const env = { STCI_MCA_session_directory: join(directory, 'sessions') };
    const said = await hosts.run([process.execPath, FINJECT, 'run', `${name}.yaml`, '--output', name], {
      cwd: directory, env, deadlineMs: LONG.timeoutMs,
    });
    return { code: said.code, out: said.stdout + said.stderr };
  }

  function endOf(name: string) {
    const text = readFileSync(join(directory, name, 'history.jsonl'), 'utf8');
    return recordsOf(readHistory(name, text), 'repeat-end')[0];
  }

  check('nothing is left', async () => {
    const { code, out } = await run('clean', 'sleep 0.1');
    assert.is(code, 0, out);
    assert.equal([endOf('clean')?.orphans, endOf('clean')?.unknown], [0, []]);
  });

  check('by its environment, by its limit where it has none; nothing of it is on other hosts', async () => {
    // It is on its own before its rank ends.
    const away = (words: string, name: string, own: string): string => {
      const file = join(directory, name);
      return `setsid ${words} sh -c 'touch ${file}; exec sleep ${own}' </dev/null >/dev/null 2>&1 & `
        + `until [ -e ${file} ]; do sleep 0.02; done`;
    };
    // As one whose agent was killed together with its guardian: the id of no agent.
    const limit = `$((${MARK_TAG} << ${TAG_SHIFT} | 0x1234 << 22 | ${2 ** 22 - 1}))`;
    const daemons = `ulimit -S -w ${limit}; ${away('env -i', 'limited', '662')}; ulimit -S -w unlimited; `
      + away('env -u STCI_TOOL_MARK -u STCI_GUARD', 'marked', '661');
    const { code, out } = await run('left', `[ $STCI_HOST = h2 ] || exit 0; ${daemons}`);
    const left = hosts.processes('h2').filter(({ command }) => command.startsWith('sleep 66'));
    killThose(left.map(({ pid }) => pid));
    assert.is(left.length, 2, 'else this test shows nothing');
    assert.is(code, 204, out);
    const end = endOf('left');
    assert.equal([end?.orphans, end?.unknown], [2, []]);
    assert.equal(end?.left?.map(({ host, command }) => `${host} ${command}`).sort(), ['h2 sleep 661', 'h2 sleep 662']);
    assert.match(out, /no-orphan: 2 processes were left: h2: \d+ sleep 66/u);
  });
});
