/** Completion: what stands at the cursor, candidates from tables and sources, and the way through a real bash. */
// @sameFor node: words and a shell.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, patient, suite } from '@stci/testkit';
import { frontEndRegistry, SessionPlace } from '@stci/stcirun/internal';
import { bashText, readBashLine } from '../dist/complete/bash-line.js';
import { complete } from '../dist/complete/candidates.js';
import { bashReply } from '../dist/complete/main.js';
import { programFacts, STCI_CLIENT, STCIRUN } from '../dist/complete/programs.js';
import { completionScript, SHELLS } from '../dist/complete/scripts.js';
import { configuredHosts, knownHosts } from '../dist/complete/sources.js';
import { ARGUMENT_KINDS, OPTION_KINDS, type Sources } from '../dist/complete/values.js';
import { STCI } from '../dist/stci/commands.js';
import { OWN_MANAGER, writePackage } from './plugin-package.js';

const BIN = join(dirname(fileURLToPath(import.meta.url)), '../bin');
const BREAKS = ' \t\n"\'@><=;|&(:';
const STCI_FACTS = programFacts('stci', STCI.commands);

function sources(own: Partial<Sources> = {}): Sources {
  return {
    registry: frontEndRegistry(),
    variables: ['HOME', 'PATH'],
    hosts: (files) => ['alpha', 'beta', ...files.map((file) => `in-${file}`)],
    sessions: () => ['day', 'night'],
    jobs: async (only) => (only === undefined ? ['night.1', 'night.2'] : ['1', '2']),
    sessionHosts: async (session) => [`n1-${session ?? 'any'}`],
    ranks: async (job) => [`0`, `1${job.length}`],
    ...own,
  };
}

async function texts(words: string, own: Partial<Sources> = {}): Promise<string[]> {
  const { candidates } = await complete(words.split(' '), [STCIRUN, STCI_FACTS, STCI_CLIENT], async () => sources(own));
  return candidates.map(({ text }) => text);
}

suite('completion: candidates', (test) => {
  test('options by name, of stcirun until its program', async () => {
    assert.equal(await texts('stcirun --on'), ['--on-failure', '--on-launch-failure']);
    assert.equal(await texts('stci doctor --cl'), ['--clean']);
    assert.equal((await texts('stcirun --')).length > 40, true);
    const after = async (words: string): Promise<number | undefined> =>
      (await complete(words.split(' '), [STCIRUN], async () => sources())).command;
    for (const [words, from] of [
      ['stcirun prog', 1], ['stcirun -n 4 prog', 3], ['stcirun -n4 prog --tag', 2], ['stcirun -q -- --odd', 3],
      ['stcirun --tag prog a', 2], ['stcirun --np=2 --mca a=b prog', 4], ['stcirun -H a prog', 3],
      ['stcirun a : -n 2 b', 5], ['stcirun a x : b c', 4], ['stcirun --bynode prog', 2],
    ] as const) assert.is(await after(words), from, words);
    assert.equal(await texts('stcirun a : --sp'), ['--spares']);
  });

  test('values: enums, components, policies, behind a blank or =', async () => {
    assert.equal(await texts('stcirun --color='), ['--color=auto', '--color=always', '--color=never']);
    assert.equal(await texts('stcirun --launcher '), ['local', 'slurm', 'ssh']);
    assert.equal(await texts('stcirun --overlay m'), ['mesh']);
    assert.equal(await texts('stcirun --on-failure tool=restart,ho'), ['tool=restart,host=']);
    assert.equal(await texts('stcirun --on-failure tool=restart,host=co'), ['tool=restart,host=continue']);
    assert.equal(await texts('stcirun --map-by p'), ['ppr:']);
    assert.equal(await texts('stci doctor --launcher l'), ['local']);
    assert.equal(await texts('stci completion '), ['bash', 'zsh', 'fish']);
  });

  test('parameters with their values, selection lists with commas and ^', async () => {
    assert.equal(await texts('stcirun --mca launcher.tree.ar'), ['launcher.tree.arity=']);
    assert.equal(await texts('stcirun --mca client.enable='), ['client.enable=true', 'client.enable=false']);
    assert.equal(await texts('stcirun --mca launcher='), ['launcher=flat', 'launcher=tree']);
    assert.equal(await texts('stcirun --mca detector=ring,sw'), ['detector=ring,swim']);
    assert.equal(await texts('stcirun --mca detector=^ring,me'), ['detector=^ring,mesh']);
    assert.equal(await texts('stcirun --mca no.such='), []);
  });

  test('hosts in lists, with slots and login names; those of files that the line names', async () => {
    assert.equal(await texts('stcirun --host '), ['alpha', 'beta']);
    assert.equal(await texts('stcirun --host alpha:2,b'), ['alpha:2,beta']);
    assert.equal(await texts('stcirun --host alpha,'), ['alpha,beta']);
    assert.equal(await texts('stcirun --host n[1,2],al'), ['n[1,2],alpha']);
    assert.equal(await texts('stcirun --host n[1,'), []);
    assert.equal(await texts('stcirun --host me@al'), ['me@alpha']);
    assert.equal(await texts('stcirun --hostfile f --host in'), ['in-f']);
  });

  test('commands, sessions, jobs, ranks, targets of stci', async () => {
    assert.equal(await texts('stci ho'), ['hosts']);
    assert.equal(await texts('stci hosts ex'), ['expand']);
    assert.equal(await texts('stci help hosts ex'), ['expand']);
    assert.equal(await texts('stci stop n'), ['night']);
    assert.equal(await texts('stci kill '), ['night.1', 'night.2']);
    assert.equal(await texts('stci kill --session night '), ['1', '2']);
    assert.equal(await texts('stcirun --session='), ['--session=day', '--session=night', '--session=none']);
    assert.equal(await texts('stci remove-hosts --session day '), ['n1-day']);
    assert.equal(await texts('stci info launcher:t'), ['launcher:tree']);
    assert.equal(await texts('stci info --hel'), ['--held', '--help']);
    assert.equal(await texts('stci info --held --session n'), ['night', 'none']);
    assert.equal(await texts('stci no such '), []);
    assert.equal(await texts('other '), []);
  });

  test('calls of stci-client, their options and words', async () => {
    assert.equal(await texts('stci-client b'), ['barrier', 'broadcast']);
    assert.equal(await texts('stci-client help s'), ['size', 'send', 'shrink']);
    assert.equal(await texts('stci-client recv --t'), ['--tag', '--timeout']);
    assert.equal(await texts('stci-client recv --tag '), []);
    assert.equal(await texts('stci-client send 1 --form '), ['bytes', 'json', 'text']);
    assert.equal(await texts('stci-client agree f'), ['false']);
    assert.equal(await texts('stci-client neighbours t'), ['tree']);
  });

  test('names that could direct a script, or have control characters, are left out; too many are cut', async () => {
    const odd = [':command 0', 'a\nb', 'x'.repeat(301), 'fine'];
    assert.equal(await texts('stci stop ', { sessions: () => odd }), ['fine']);
    const many = Array.from({ length: 5000 }, (_, index) => `n${index}`);
    assert.is((await texts('stcirun --host n', { hosts: () => many })).length, 1000);
  });

  test('every value and every argument has its kind', () => {
    const commands = [...STCI_FACTS.commands.values(), ...STCI_CLIENT.commands.values()];
    const options = commands.flatMap(({ options: own }) => own);
    for (const { name, value, values } of [...options, ...(STCIRUN.runs?.options ?? [])]) {
      assert.ok(value === undefined || values !== undefined || OPTION_KINDS[name] !== undefined, `--${name}`);
    }
    for (const { args } of commands) {
      for (const name of args) assert.ok(ARGUMENT_KINDS[name] !== undefined, name);
    }
  });

  test("ssh's files: plain names only", () => {
    const configuration = 'Host a b *.c !d "e"\n HostName h\nhost=f\nMatch host x\nHost $(id) ;';
    assert.equal(configuredHosts(configuration), ['a', 'b', 'e', 'f']);
    assert.equal(knownHosts('|1|x= ssh-rsa A\na,b.c,10.0.0.1 ssh-rsa A\n[d]:22 k A\n@revoked r k A\n$(id) k A\n'),
      ['a', 'b.c', '10.0.0.1', 'd']);
  });
});

const NASTY = [
  'a b', "it's", 'say "x"', '$(touch pwned)', '`touch pwned`', 'a;touch pwned', '$HOME', '~', '~root/x', 'back\\slash',
  '*', '{a,b}', '!!', '#c', 'a&b', 'a|b', '(x)', '<in', 'é ü', '-n', '=x', 'n[1-4]', '^a', '%1',
];

suite('completion: what bash is given', (test) => {
  test('a line as it stands: quotes, half words, breaks', () => {
    const read = (line: string): unknown => {
      const { words, quote, kept } = readBashLine(line, BREAKS);
      return [words, quote, kept];
    };
    assert.equal(read(`stci a\\ b 'c d' "e\\$f" `), [['stci', 'a b', 'c d', 'e$f', ''], '', 0]);
    assert.equal(read(`stci 'it is`), [['stci', 'it is'], "'", 0]);
    assert.equal(read(`stcirun --mca launcher=tr`), [['stcirun', '--mca', 'launcher=tr'], '', 9]);
    assert.equal(read(`stci x"y z`), [['stci', 'xy z'], '"', 1]);
    assert.equal(read('stci a\\'), [['stci', 'a'], '', 0]);
    assert.equal(readBashLine('a  bc ', BREAKS).starts, [0, 3, 6]);
  });

  test('typed text is the word again in bash, whatever it has, and runs nothing', () => {
    const place = mkdtempSync(join(tmpdir(), 'stci-completion-'));
    try {
      const script: string[] = [];
      const expected: string[] = [];
      for (const text of NASTY) {
        for (const quote of ['', "'", '"'] as const) {
          const typed = bashText(text, { quote, kept: 0 });
          if (typed === undefined) continue;
          script.push(`printf '%s\\n' ${quote}${typed}${quote}`);
          expected.push(text);
        }
      }
      const { stdout, stderr } = spawnSync('bash', ['-c', script.join('\n')], { cwd: place, encoding: 'utf8' });
      assert.equal([stdout.split('\n').slice(0, -1), stderr], [expected, '']);
      assert.not.ok(existsSync(join(place, 'pwned')));
      assert.is(expected.length, NASTY.length * 3 - 2, 'what cannot be written between such quotes is left out');
      assert.is(bashText('a\nb', { quote: '', kept: 0 }), undefined);
    } finally {
      rmSync(place, { recursive: true });
    }
  });

  test('only what bash replaces is given', () => {
    const line = readBashLine('stcirun --mca launcher=', BREAKS);
    assert.equal(bashReply(line, { candidates: [{ text: 'launcher=tree' }] }), ['tree']);
    const file = readBashLine('stcirun --exit-report=json:out', BREAKS);
    assert.equal(bashReply(file, { candidates: [], listing: { what: 'files', from: 19 } }), [':files 0 out']);
    const run = readBashLine('stcirun -n 2 ./a b', BREAKS);
    assert.equal(bashReply(run, { candidates: [], command: 3 }), [':command 13 b']);
  });
});

/** What bash has in COMPREPLY for a line, with the cursor at its end; words are split as it splits them. */
function inBash(place: string, line: string, words: readonly string[]): { reply: string[]; error: string } {
  const script = `source <(node '${BIN}/stci.cjs' completion bash)
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=("\${@:2}") COMP_CWORD=$(( $# - 2 ))
_stci "\${COMP_WORDS[0]}"
for one in "\${COMPREPLY[@]}"; do printf '%s\\0' "$one"; done`;
  const home = join(place, 'home');
  const { stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', line, ...words], {
    cwd: place,
    encoding: 'utf8',
    env: {
      PATH: `${join(place, 'bin')}:${dirname(process.execPath)}:${process.env['PATH']}`, HOME: home,
      STCI_MCA_session_directory: join(place, 'sessions'),
    },
    timeout: patient(20_000),
  });
  return { reply: stdout.split('\0').slice(0, -1), error: stderr };
}

suite('completion in a real bash', (test) => {
  let place = '';
  test.before(() => {
    place = mkdtempSync(join(tmpdir(), 'stci-completion-'));
    const directories = ['bin', 'home/.ssh', 'some dir', '$(touch pwned)'];
    for (const name of directories) mkdirSync(join(place, name), { recursive: true });
    const stci = `#!/bin/sh\nexec node '${BIN}/stci.cjs' "$@"\n`;
    writeFileSync(join(place, 'bin/stci'), stci, { mode: 0o755 });
    const files = ['hosts one', '`touch pwned`', 'hosts\n$(touch pwned)'];
    for (const name of files) writeFileSync(join(place, name), 'h1\nh2:4\n');
    writeFileSync(join(place, 'run.yaml'), '');
    writeFileSync(join(place, 'home/.ssh/config'), 'Host login $(touch${IFS}pwned)\n');
    writeFileSync(join(place, 'home/.ssh/known_hosts'), 'store,`touch${IFS}pwned` ssh-rsa A\n');
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  test('options, values, hosts', () => {
    const named = ['stcirun', '--hostfile'];
    const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
      ['stcirun --launch', ['stcirun', '--launch'], ['--launcher', '--launch-timeout']],
      ['stcirun --mca launcher=', ['stcirun', '--mca', 'launcher', '=', ''], ['flat', 'tree']],
      ['stcirun --host ', ['stcirun', '--host', ''], ['login', 'store']],
      ['stcirun --hostfile hosts\\ one --host h', [...named, 'hosts\\ one', '--host', 'h'], ['h1', 'h2']],
      ["stcirun --hostfile 'hosts one' --host h", [...named, "'hosts one'", '--host', 'h'], ['h1', 'h2']],
      ['stci-client al', ['stci-client', 'al'], ['allgather']],
      ['stci hosts f', ['stci', 'hosts', 'f'], ['fold']],
    ];
    for (const [line, words, expected] of cases) {
      assert.equal(inBash(place, line, words), { reply: [...expected], error: '' });
    }
  }, { timeoutMs: 30_000 });

  test('files and programs are those that bash lists; names are never run', () => {
    const files = inBash(place, 'stcirun --hostfile ', ['stcirun', '--hostfile', '']);
    assert.ok(files.reply.includes('hosts one') && files.reply.includes('`touch pwned`'), files.reply.join(', '));
    assert.equal(inBash(place, 'stcirun --wdir so', ['stcirun', '--wdir', 'so']).reply, ['some dir']);
    assert.ok(inBash(place, 'stcirun -n 2 prin', ['stcirun', '-n', '2', 'prin']).reply.includes('printf'));
    assert.equal(inBash(place, 'stcirun cat run', ['stcirun', 'cat', 'run']).reply, ['run.yaml']);
    const attacks = [
      '$(touch pwned)', '`touch pwned`', '"$(touch pwned)', "'; touch pwned;'", '$(touch pwned)/', '*', '~',
    ];
    for (const word of attacks) {
      for (const option of ['--hostfile', '--host', '--wdir', '--mca', '--session', '-n 1 cat']) {
        const words = ['stcirun', ...option.split(' '), word];
        assert.is(inBash(place, words.join(' '), words).error, '', words.join(' '));
      }
    }
    assert.not.ok(existsSync(join(place, 'pwned')), 'a name was run');
  }, { timeoutMs: 60_000 });

  test('sessions by name; those of others, and damaged ones, are no harm', () => {
    const directory = join(place, 'sessions');
    mkdirSync(join(directory, '$(touch pwned)'), { recursive: true, mode: 0o700 });
    mkdirSync(join(directory, 'night'), { mode: 0o700 });
    assert.equal(new SessionPlace(directory).list().map(({ name }) => name), ['night']);
    assert.equal(inBash(place, 'stci stop ', ['stci', 'stop', '']), { reply: ['night'], error: '' });
    assert.equal(inBash(place, 'stci kill ', ['stci', 'kill', '']), { reply: [], error: '' });
    assert.not.ok(existsSync(join(place, 'pwned')));
  }, { timeoutMs: 20_000 });
});

suite('stci complete', (test) => {
  test('ends with 0 and says nothing, whatever comes', () => {
    const place = mkdtempSync(join(tmpdir(), 'stci-completion-'));
    try {
      execFileSync('mkfifo', [join(place, 'pipe')]);
      mkdirSync(join(place, 'home/.config/stci'), { recursive: true });
      writeFileSync(join(place, 'home/.config/stci/stci.conf'), 'no such line\nnone.such = 1\n');
      const lines = [
        [], ['--'], ['--', ''], ['--', 'stcirun'], ['--bash'], ['--bash', 'stcirun "', 'x', ''],
        ['--bash', '\'"', '99', '='], ['--', 'stcirun', '--hostfile', 'pipe', '--host', 'no'],
        ['--', 'stcirun', '--mca', '=='], ['--', 'stci', 'kill', 'x'],
        ['--', 'stcirun', '--am', 'pipe', '--session', 'no-such'], ['--', 'stci', 'stop', '\u0001'],
      ];
      for (const argv of lines) {
        const started = performance.now();
        const { status, stdout, stderr } = spawnSync(process.execPath, [join(BIN, 'stci.cjs'), 'complete', ...argv], {
          cwd: place, encoding: 'utf8', timeout: patient(10_000),
          env: { PATH: process.env['PATH'], HOME: join(place, 'home') },
        });
        assert.equal([status, stdout, stderr], [0, '', ''], argv.join(' '));
        assert.ok(performance.now() - started < patient(8_000), argv.join(' '));
      }
    } finally {
      rmSync(place, { recursive: true });
    }
  }, { timeoutMs: 60_000 });

  test('components of a plugin, from its manifest alone: none of its code runs', () => {
    const place = mkdtempSync(join(tmpdir(), 'stci-completion-'));
    try {
      const ran = join(place, 'ran');
      writePackage(join(place, 'own'), {
        components: [{ ...OWN_MANAGER, params: { level: { type: 'bool', default: false, help: 'x' } } }],
        files: { 'index.js': `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(ran)}, '');` },
      });
      const ask = (...words: string[]): string => {
        const argv = [join(BIN, 'stci.cjs'), 'complete', '--', 'stcirun', '--plugin', './own', ...words];
        const env = { PATH: process.env['PATH'], HOME: place };
        return spawnSync(process.execPath, argv, { cwd: place, encoding: 'utf8', env }).stdout;
      };
      assert.is(ask('--on-failure', 'ow'), 'own\tx\n');
      assert.is(ask('--mca', 'errmgr.own.level='), 'errmgr.own.level=true\nerrmgr.own.level=false\n');
      assert.not.ok(existsSync(ran));
    } finally {
      rmSync(place, { recursive: true });
    }
  }, { timeoutMs: 20_000 });

  test('another shell is refused with the names of the three', () => {
    const argv = [join(BIN, 'stci.cjs'), 'completion', 'tcsh'];
    const { status, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    assert.is(status, 193);
    assert.match(stderr, 'Write: stci completion bash, zsh or fish.');
  });

  for (const shell of SHELLS) {
    const isHere = spawnSync(shell, ['-c', 'true']).status === 0;
    const name = `the script of ${shell} parses, also with an odd path`;
    test.skipIf(!isHere, `${shell} is not on this machine`, name, () => {
      const script = completionScript(shell, "/o'dd $(touch pwned)/bin");
      const { status, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
      assert.equal([status, stderr], [0, '']);
    });
  }
});
