/** Sessions as a user has them: the built programs, agents as local processes. */
// @timeoutMs 900000

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { PROGRAM, run, sh } from './e2e.js';
import { LONG, soon, withPlace } from './e2e-place.js';
import { atTerminal, CTRL_BACKSLASH, whyNoPty } from './pty.js';

suite('sessions', (test) => {
  test('jobs one after the other and at once, by the same agents; the exit code is each one\'s own',
    withPlace(async (place) => {
      place.start('night');
      const agents = await place.run('night', sh('echo $PPID')).result;
      assert.is(agents.exitCode, 0, agents.err);
      const go = join(place.directory, 'go');
      const jobs = [0, 3, 5].map((status) => place.run('ni',
        ['-n', '1', ...sh(`echo $STCI_SIZE $STCI_HOST; until [ -e ${go} ]; do sleep 0.05; done; exit ${status}`)]));
      await soon(() => jobs.every((job) => job.out() !== ''), 'all three at once');
      writeFileSync(go, '');
      const codes = await Promise.all(jobs.map(({ result }) => result));
      assert.equal(codes.map(({ exitCode }) => exitCode), [0, 3, 5]);
      assert.equal(codes.map(({ out }) => out.slice(0, 3)).sort(), ['1 a', '1 a', '1 b']);
      const input = await run(['-n', '1', ...sh('cat; echo end')],
        { input: 'some input\n', env: { ...place.env, STCI_SESSION: 'night' } });
      assert.equal([input.exitCode, input.out], [0, 'some input\nend\n'], input.err);
      const chosen = await place.run('night', ['--host', 'b', ...sh('echo $STCI_HOST $STCI_SIZE')]).result;
      assert.is(chosen.out, 'b 2\nb 2\n', chosen.err);
    }), LONG);

  test('detach, attach, wait: the output whole, the exit code everywhere the same', withPlace(async (place) => {
    place.start('night');
    const file = join(place.directory, 'go');
    const job = sh(`echo before; until [ -e ${file} ]; do sleep 0.05; done; echo after; exit 7`);
    const detached = await place.run('night', ['--detach', '-n', '1', ...job]).result;
    assert.equal([detached.exitCode, detached.out], [0, 'night.1\n'], detached.err);
    writeFileSync(file, '');
    const attached = place.stci('attach', 'night.1');
    assert.equal([attached.exitCode, attached.out], [7, 'before\nafter\n'], attached.err);
    assert.is(place.stci('wait', '1', '--session', 'night').exitCode, 7);
    for (const time of [1, 2]) {
      const { exitCode, out, err } = place.stci('attach', '--all', 'night.1');
      assert.equal([exitCode, out], [7, 'before\nafter\n'], String(time));
      assert.is(err, 'stcirun: Rank 0 on a ended with status 7\n');
    }
    assert.is(place.stci('attach', 'night.1').out, '', 'it was shown');
    const again = place.stci('attach', '--all', '--json', 'night.1');
    const events = again.out.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    const ended = events.at(-1) as { type: string; report: { exitCode: number } };
    assert.equal([again.exitCode, ended.type, ended.report.exitCode], [7, 'ended', 7]);
    assert.is(events.filter(({ type }) => type === 'exited').length, 1);
  }), LONG);

  test('a front-end that is killed leaves its job; so does a hangup, but an interrupt ends it',
    withPlace(async (place) => {
      place.start('night');
      const line = sh('i=0; while [ $i -lt 200 ]; do echo $i; i=$((i + 1)); sleep 0.02; done');
      const first = place.run('night', ['-n', '1', ...line]);
      await soon(() => first.out().includes('20\n'), 'output');
      first.child.kill('SIGKILL');
      await first.result;
      const rest = place.stci('attach', 'night.1');
      assert.is(rest.exitCode, 0, rest.err);
      const seen = new Set([...first.out().split('\n').slice(0, -1), ...rest.out.split('\n')]);
      for (let i = 0; i < 200; i += 1) assert.is(seen.has(String(i)), true, `line ${i}`);
      assert.match(rest.out, /\n199\n$/u);

      const third = place.run('night', ['-n', '1', '--', 'sleep', '100']);
      await soon(() => place.states().includes('night.2 running'), 'the second job');
      third.child.kill('SIGHUP');
      const left = await third.result;
      assert.equal([left.exitCode, place.states()], [0, 'night.1 ended, night.2 running'], left.err);
      assert.match(left.err, "left job night.2 to its session: 'stci attach night.2' shows it again");
      assert.is(place.stci('kill', 'night.2', '--signal', '9').exitCode, 0);
      assert.is(place.stci('wait', 'night.2').exitCode, 137);
      assert.match(place.stci('ps', 'night.2').out, / ended SIGKILL\n$/u);
      assert.match(place.stci('ps', 'night.1').out, / exited 0\n$/u);
      const killed = place.run('night', ['-n', '1', '--', 'sleep', '100']);
      await soon(() => place.states().includes('night.3 running'), 'another job');
      assert.is(place.stci('kill', 'night.3').exitCode, 0);
      const { exitCode, err } = await killed.result;
      assert.equal([exitCode, err], [143, 'stcirun: Ended by stci kill\n']);

      const fourth = place.run('night', ['-n', '1', '--', 'sleep', '100']);
      await soon(() => place.states().includes('night.4 running'), 'the fourth job');
      fourth.child.kill('SIGINT');
      assert.is((await fourth.result).exitCode, 130);
      assert.match(place.states(), 'night.4 ended');
      const last = place.run('night', ['-n', '1', '--', 'sleep', '100']);
      await soon(() => place.states().includes('night.5 running'), 'the last job');
      assert.is(place.stci('stop', 'night').exitCode, 0);
      assert.is((await last.result).err, 'stcirun: Ended by stci stop\n');
    }), LONG);

  test('an attach that gets TERM, or is not read, leaves the job; Ctrl-C ends it', withPlace(async (place) => {
    place.start('night');
    const line = sh('seq 4000000; sleep 60');
    await place.run('night', ['--detach', '-n', '1', ...line]).result;
    const first = place.attach('night.1');
    await soon(() => first.out().includes('9\n'), 'output');
    first.child.kill('SIGTERM');
    const left = await first.result;
    assert.equal([left.exitCode, place.states()], [0, 'night.1 running'], left.err);
    assert.match(left.err, "left job night.1 to its session: 'stci attach night.1' shows it again");
    const second = place.attach('night.1');
    second.child.stdout?.destroy();
    const closed = await second.result;
    assert.equal([closed.exitCode, place.states()], [141, 'night.1 running'], closed.err);
    const third = place.attach('night.1');
    await soon(() => third.out() !== '', 'what the second could not write');
    third.child.kill('SIGINT');
    assert.equal([(await third.result).exitCode, place.states()], [130, 'night.1 ended']);
    const lines = (left.out + third.out()).split('\n').slice(0, -1);
    assert.is(lines.findIndex((text, i) => text !== String(i + 1)), -1, 'once, in order');
  }), LONG);

  const noPty = whyNoPty ?? '';
  test.skipIf(noPty !== '', noPty, 'at a terminal Ctrl-\\ leaves the job, and another goes on with it',
    withPlace(async (place) => {
      place.start('night');
      const env = Object.entries(place.env).map(([name, value]) => `${name}=${value}`).join(' ');
      const job = "sh -c 'echo up; read line; echo got $line; exit 5'";
      const first = atTerminal(`export ${env}; stcirun --session night -n 1 ${job}`);
      await first.shows('up\r\n');
      first.type(CTRL_BACKSLASH);
      assert.is(await first.exitCode, 0, first.text());
      assert.match(first.text(), "left job night.1 to its session: 'stci attach night.1' shows it again");
      const second = atTerminal(`export ${env}; stci attach --all -v night.1`);
      await second.shows('up\r\n');
      second.type('words\n');
      await second.shows('got words');
      assert.is(await second.exitCode, 5, second.text());
    }), LONG);

  test('slots are counted over jobs: what does not fit is told, or waits', withPlace(async (place) => {
    place.start('night');
    const file = join(place.directory, 'go');
    const holder = place.run('night', ['-n', '3', ...sh(`until [ -e ${file} ]; do sleep 0.05; done`)]);
    await soon(() => place.states().includes('night.1 running'), 'the first job');
    const refused = await place.run('night', ['-n', '2', '--', 'true']).result;
    assert.equal([refused.exitCode, refused.out], [195, '']);
    assert.match(refused.err, "The job's 2 ranks do not fit now: running jobs have 3 ranks");
    for (const more of [[], ['--detach'], ['--dry-run']]) {
      const { exitCode, err } = await run(['--launcher', 'local', '--host', 'a', '--wait', ...more, 'true']);
      assert.equal([exitCode, err], [193, 'stcirun: --wait is for a job in a session, where others may have its slots: '
        + 'give --session as well.\n']);
    }
    const never = await place.run('night', ['--wait', '-n', '5', '--', 'true']).result;
    assert.is(never.exitCode, 195);
    assert.match(never.err, '5 ranks need more slots than there are: 4 on 2 hosts');
    assert.is((await place.run('night', ['-n', '1', ...sh('echo $STCI_HOST')]).result).out, 'b\n');
    const waiting = place.run('night', ['--wait', '-n', '4', ...sh('echo ran')]);
    await soon(() => waiting.err().includes('stcirun: waiting: '), 'a job that waits');
    assert.not.match(waiting.err(), '--wait');
    assert.match(place.states(), 'night.0 waiting');
    writeFileSync(file, '');
    assert.is((await holder.result).exitCode, 0);
    assert.is((await waiting.result).out, 'ran\n'.repeat(4));
  }), LONG);

  test('a slot is free once its rank has ended, also for a job that waits', withPlace(async (place) => {
    place.start('night');
    const [some, all] = [join(place.directory, 'some'), join(place.directory, 'all')];
    const until = (file: string): string => `until [ -e ${file} ]; do sleep 0.05; done`;
    const holder = place.run('night', ['-n', '4', ...sh(`${until(some)}; [ $STCI_RANK -lt 2 ] || ${until(all)}`)]);
    await soon(() => place.states().includes('night.1 running'), 'the first job');
    const waiting = place.run('night', ['--wait', '-n', '2', ...sh('echo ran')]);
    await soon(() => waiting.err().includes('stcirun: waiting: '), 'a job that waits');
    writeFileSync(some, '');
    assert.is((await waiting.result).out, 'ran\n'.repeat(2));
    assert.match(place.states(), 'night.1 running');
    writeFileSync(all, '');
    assert.is((await holder.result).exitCode, 0);
  }), LONG);

  test('--detach without a session makes one that ends when its output was seen', withPlace(async (place) => {
    const made = await run(['--detach', '--on-failure', 'continue', '--launcher', 'local', '--host', 'a,b',
      ...sh('echo $STCI_HOST; exit 4')],
      { env: place.env });
    assert.equal([made.exitCode, made.out], [0, 's1.1\n'], made.err);
    await soon(() => place.states().includes('ended'), 'its end');
    assert.is(place.stci('wait', 's1.1').exitCode, 4);
    const shown = place.stci('attach', 's1.1'); // What nobody has seen is there after a wait.
    assert.equal([shown.exitCode, shown.out.split('\n').sort().join('')], [4, 'ab'], shown.err);
    await soon(() => place.names().length === 0, 'the session to remove its directory');
    assert.match(place.stci('wait', 's1.1').err, "there is no session 's1'");
  }), LONG);

  test('stci start that is interrupted: 128 + the signal, and nothing is left', withPlace(async (place) => {
    for (const [signal, exitCode] of [['SIGINT', 130], ['SIGTERM', 143]] as const) {
      // The hosts come up one after the other, and so not at once.
      const starting = place.command('start', '--launcher', 'local', '--host', 'n[1-40]', '--name', 'big',
        '--mca', 'launcher.window=1', '--mca', 'launcher=flat');
      await soon(() => place.names().length > 0 && place.hosts().includes('up'), 'the first host');
      starting.child.kill(signal);
      const said = await starting.result;
      assert.equal([said.exitCode, said.out], [exitCode, ''], said.err);
      assert.is(said.err, `stci: ${signal}: ending session big, and what it has started\n`
        + `stci: Interrupted by ${signal}: session big is not started.\n`);
      assert.equal([place.names(), starting.leftovers()], [[], []]);
    }
  }), LONG);

  test('a name that cannot be written to standard output is told on standard error', withPlace(async (place) => {
    place.start('night');
    const argv = ['-c', '"$@" >/dev/full', 'sh', process.execPath, PROGRAM, '--session', 'night', '--detach', 'true'];
    const { status, stderr } = spawnSync('sh', argv, { encoding: 'utf8', env: { ...process.env, ...place.env } });
    assert.is(status, 202);
    assert.match(stderr, /^stcirun: started job night\.1, which goes on\nstcirun: Output cannot be written/u);
  }), LONG);

  test('hosts come and go while jobs run', withPlace(async (place) => {
    place.start('night', '--mca', 'launcher.tree.arity=1');
    const file = join(place.directory, 'go');
    const until = `until [ -e ${file} ]; do sleep 0.05; done`;
    const options = ['--on-failure', 'continue', '--tag'];
    const first = place.run('night', [...options, '-n', '4', ...sh(`echo $PPID; ${until}; echo after`)]);
    await soon(() => first.out().split('\n').length > 4, 'agents');
    const waiting = place.run('night', ['--wait', '-n', '4', ...sh('echo $STCI_HOST')]);
    await soon(() => waiting.err().includes('stcirun: waiting: '), 'a job that waits');
    const added = place.stci('add-hosts', 'c:2', 'd:2');
    assert.equal([added.exitCode, added.err], [0, 'stci: session night: 2 hosts added\n']);
    const ran = await waiting.result;
    assert.equal([ran.exitCode, ran.out.split('\n').sort().join('')], [0, 'ccdd'], ran.err);

    const [, agent] = /^\[0\]\s*(\d+)$/mu.exec(first.out()) ?? [];
    process.kill(Number(agent), 'SIGKILL');
    const hosts = (): string => place.hosts();
    await soon(() => hosts() === 'a failed 1,b up 1,c up 1,d up 1', 'the loss of host a');
    assert.match(place.stci('ps').out, /host +state +incarnation +ranks +reason\n +a +failed +1 +0 +Agent root:0/u);
    for (const dry of [[], ['--dry-run']]) {
      const lacking = await place.run('night', [...dry, '--host', 'a', '--', 'true']).result;
      assert.equal([lacking.exitCode, lacking.out], [195, '']);
      assert.match(lacking.err, "No host for program 'true' is up: a (failed). 'stci ps' says why; 'stci add-hosts'");
    }
    assert.is(place.stci('add-hosts', 'a:1').exitCode, 0);
    assert.is(hosts(), 'a up 2,b up 1,c up 1,d up 1');

    const removal = place.later('remove-hosts', 'b', 'c');
    await soon(() => hosts() === 'a up 2,b draining 1,c left 1,d up 1', 'a host that waits for its job');
    const timed = place.stci('remove-hosts', 'b', '--timeout', '1s');
    assert.equal([timed.exitCode, timed.err.split('\n')[0]],
      [195, 'stci: Host b stays: after 1 s it still has ranks of job 1. Wait longer, or end them with --force.']);
    assert.is((await removal).exitCode, 195);
    const again = place.later('remove-hosts', 'b');
    await soon(() => hosts().includes('b draining'), 'the same again');
    const all = await place.run('night', [...sh('echo $STCI_HOST')]).result;
    assert.is(all.out.split('\n').sort().join(''), 'add', all.err);
    writeFileSync(file, '');
    const done = await first.result;
    assert.equal(done.out.match(/\[[23]\] *after/gu)?.length, 2, done.out);
    assert.equal([(await again).exitCode, hosts()], [0, 'a up 2,b left 1,c left 1,d up 1']);
  }), LONG);

  test('a session that was killed is told of once; its log, and output that nobody has seen, are kept',
    withPlace(async (place) => {
      place.start('night', '--mca', 'bootcom.lease=5s'); // Its agents outlive it for so long.
      assert.is((await place.run('night', ['--detach', '-n', '1', ...sh('seq 100000')]).result).exitCode, 0);
      await soon(() => place.states() === 'night.1 ended', 'its output');
      const { STCI_MCA_session_directory: sessions = '' } = place.env;
      const { process: daemon } = JSON.parse(readFileSync(join(sessions, 'night/session.json'), 'utf8')) as
        { process: { pid: number } };
      process.kill(daemon.pid, 'SIGKILL');
      await soon(() => !existsSync(`/proc/${daemon.pid}`), 'its end');
      for (const words of [['attach', ''], ['stop', 'n']]) {
        assert.is(place.stci('complete', '--', 'stci', ...words).exitCode, 0);
      }
      const text = place.stci('ps').out;
      assert.match(text, /^night: gone: its process ended without 'stci stop'\. Its log, and output that /u);
      const [, kept = ''] = /are kept for a day: (\S+)\n$/u.exec(text) ?? [];
      assert.ok(existsSync(join(kept, 'log')), text);
      const spool = join(kept, 'spools/1');
      const bytes = readdirSync(spool).map((name) => readFileSync(join(spool, name), 'latin1')).join('');
      assert.match(bytes, '\n60000\n');
      assert.is(place.stci('ps').out, "no session; 'stci start' starts one\n");
      place.start('night');
      assert.ok(existsSync(join(kept, 'log')));
    }), LONG);

  test('hosts that cannot come or go: why, and what to do', withPlace(async (place) => {
    const started = place.stci('start', '--name', 'night');
    assert.is(started.exitCode, 0, started.err);
    const said = (...args: string[]): string => {
      const { exitCode, out, err } = place.stci(...args);
      return `${exitCode} ${out}${err}`;
    };
    assert.match(said('add-hosts'), '193 stci: No host is named. Write, for example: stci add-hosts c:2,d');
    assert.match(said('remove-hosts', 'x', '--session', 'day'), "195 stci: --session: there is no session 'day'.");
    assert.match(said('remove-hosts', 'x'), "195 stci: Host x is not one of the session's.");
    const { hosts: [own] } = place.session();
    const name = own?.spec.name ?? '';
    assert.is(said('remove-hosts', name), "195 stci: No host of the session would be left. 'stci stop' ends it.\n");
    assert.is(said('add-hosts', `${name}:8`), `195 stci: Host ${name} is in the session already.\n`);
    const failed = said('add-hosts', 'no.host.invalid');
    assert.match(failed, /^197 stci: Agent root:1 on host no\.host\.invalid did not come up: [^]* 0 hosts added\n$/u);
    assert.match(said('ps'), /1 of 2 hosts up[^]*no\.host\.invalid +failed +1 +0 +Agent root:1/u);
    assert.is(said('remove-hosts', 'no.host.invalid', '-q'), '0 ');
    assert.match(said('ps'), '1 of 1 host up');
  }), LONG);

  test('a session whose process is stopped does not answer; stci stop says what it awaits', withPlace(async (place) => {
    place.start('still');
    const facts = join(place.env['STCI_MCA_session_directory'] as string, 'still', 'session.json');
    const { pid } = (JSON.parse(readFileSync(facts, 'utf8')) as { process: { pid: number } }).process;
    process.kill(pid, 'SIGSTOP');
    const stopping = place.command('stop', 'still');
    try {
      const { exitCode, out } = place.stci('ps', '--mca', 'bootcom.handshake=1s');
      assert.equal([exitCode, out], [0, 'still: Session still does not answer: no handshake within 1 s. Its process is '
        + 'stopped, or its host stands still.\n']);
      await soon(() => stopping.err() === `stci: session still: waiting up to 60 s for the end of its process, ${pid}; `
        + `if that is stopped: kill -CONT ${pid}\n`, 'what it awaits');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    assert.is((await stopping.result).exitCode, 0, stopping.err());
  }), LONG);

  test('what cannot be: each with its remedy, and nothing hangs', withPlace(async (place) => {
    const failed = place.stci('start', '--host', 'no.such.host.invalid', '--name', 'bad');
    assert.is(failed.exitCode, 197, failed.err);
    assert.match(failed.err, 'no.such.host.invalid');
    assert.is(place.stci('ps').out, "no session; 'stci start' starts one\n");
    const none = await place.run('x', ['--', 'true']).result;
    assert.equal([none.exitCode, none.err],
      [195, "stcirun: --session: there is no session 'x'. 'stci start' starts one.\n"]);
    place.start('night', '--mca', 'bootcom.lease=5s'); // Its agents outlive it for so long.
    place.start('nightly');
    assert.match(place.stci('start', '--launcher', 'local', '--name', 'night').err, 'There is a session night already');
    const ambiguous = await place.run('ni', ['--', 'true']).result;
    assert.match(ambiguous.err, "'ni' may be any of night, nightly");
    assert.match(place.stci('attach', 'night.9').err, 'Session night never had a job 9');
    assert.match(place.stci('wait', 'night.x').err, "'night.x' is no job");
    assert.match((await place.run('night', ['--host', 'c', '--', 'true']).result).err, 'not one of the session');
    const parameter = await place.run('night', ['--mca', 'bootcom.lease=6s', '--', 'true']).result;
    assert.match(parameter.err, 'is a parameter of the agents, which are those of session night');
    assert.match((await place.run('night', ['--launcher', 'ssh', '--', 'true']).result).err, 'decided by stci start');
    const facts = join(place.env['STCI_MCA_session_directory'] as string, 'night', 'session.json');
    const { process: daemon } = JSON.parse(readFileSync(facts, 'utf8')) as { process: { pid: number } };
    const job = place.run('night', ['-n', '1', '--', 'sleep', '100']);
    await soon(() => place.states().includes('night.1 running'), 'a job');
    const { socket } = JSON.parse(readFileSync(facts.replace('/night/', '/nightly/'), 'utf8')) as { socket: string };
    renameSync(socket, `${socket}-`);
    const unreached = await place.run('nightly', ['--', 'true']).result;
    assert.is(unreached.exitCode, 195);
    assert.match(unreached.err, /its socket \S+ is gone\. The session is ending, or .* end it: stci stop nightly/u);
    renameSync(`${socket}-`, socket);
    process.kill(daemon.pid, 'SIGKILL');
    const lost = await job.result;
    assert.is(lost.exitCode, 200);
    assert.match(lost.err, 'The connection to session night has ended');
    const gone = await place.run('night', ['--', 'true']).result;
    assert.match(gone.err, "Session night is gone: its process ended without 'stci stop'");
    assert.equal(place.stci('ps').out.split(':')[0], 'nightly');
    const other = facts.replace('/night/', '/nightly/');
    writeFileSync(other, readFileSync(other, 'utf8').replace('"version":"', '"version":"9.'));
    const version = await place.run('nightly', ['--', 'true']).result;
    assert.equal([version.exitCode, place.stci('stop', 'nightly').exitCode], [195, 0]);
    assert.match(version.err, /Session nightly is one of version 9\.\S+; this is \S+\. Use that .*: kill \d+/u);
  }), LONG);
});
