/** PMI-1, the launcher's side: each command's bytes, as MPICH 4 sends and takes them. */

import {
  Pmi1Reader, Pmi1Server, formatCommand, formatSpawn, fromByteText, toByteText, type Pmi1Event, type Pmi1Program,
} from '@stci/pmi';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { dialogues, sentBy, split } from './dialogues.js';

const INIT = 'cmd=init pmi_version=1 pmi_subversion=1\n';

function server(): Pmi1Server {
  return new Pmi1Server({ rank: 1, size: 4, kvsName: 'kvs', universeSize: 8 });
}

/** All steps of a text: replies and events. */
function say(to: Pmi1Server, text: string): { reply: string; events: Pmi1Event[] } {
  to.append(fromByteText(text));
  const said = { reply: '', events: [] as Pmi1Event[] };
  for (let step = to.next(); step !== undefined; step = to.next()) {
    said.reply += toByteText(step.reply ?? new Uint8Array(0));
    if (step.event !== undefined) said.events.push(step.event);
  }
  return said;
}

function running(): Pmi1Server {
  const made = server();
  say(made, INIT);
  return made;
}

suite('PMI-1 server', (test) => {
  test('init is answered with the lower version', () => {
    const of = (subversion: number): string =>
      say(server(), `cmd=init pmi_version=1 pmi_subversion=${subversion}\n`).reply;
    assert.is(of(1), 'cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n');
    assert.is(of(2), 'cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0\n');
    assert.is(of(9), 'cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=0\n');
  });

  test('another major version is refused, and the rank does not run', () => {
    const refusing = server();
    assert.match(say(refusing, 'cmd=init pmi_version=2 pmi_subversion=0\n').reply, 'rc=-1');
    assert.is(refusing.isRunning, false);
  });

  test('a client on TCP says who it is first', () => {
    const said = say(server(), `cmd=initack pmiid=1\n${INIT}`);
    assert.match(said.reply, /^cmd=initack\ncmd=set size=4\ncmd=set rank=1\ncmd=set debug=0\ncmd=response_to_init /);
  });

  test('facts are answered without the owner', () => {
    const asked = 'cmd=get_maxes\ncmd=get_appnum\ncmd=get_my_kvsname\ncmd=get_universe_size\n';
    const said = say(running(), asked);
    assert.is(said.reply, 'cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\ncmd=appnum appnum=0\n'
      + 'cmd=my_kvsname kvsname=kvs\ncmd=universe_size size=8\n');
    assert.equal(said.events, []);
  });

  test('get, put and barrier wait for the owner', () => {
    const asked = running();
    assert.equal(say(asked, 'cmd=get kvsname=kvs key=K\n').events, [{ kind: 'get', key: 'K' }]);
    const found = toByteText(asked.answer({ kind: 'get', value: 'a b=c' }));
    assert.is(found, 'cmd=get_result rc=0 msg=success value=a b=c\n');
    say(asked, 'cmd=get kvsname=kvs key=K\n');
    const missing = toByteText(asked.answer({ kind: 'get', value: undefined }));
    assert.is(missing, 'cmd=get_result rc=-1 msg=key_K_not_found value=unknown\n');
    const put = say(asked, 'cmd=put kvsname=kvs key=K value=a  b key=c=\xff\n');
    assert.equal(put.events, [{ kind: 'put', key: 'K', value: 'a  b key=c=\xff' }]);
    assert.is(toByteText(asked.answer({ kind: 'put' })), 'cmd=put_result rc=0 msg=success\n');
    assert.equal(say(asked, 'cmd=barrier_in\n').events, [{ kind: 'barrier' }]);
    assert.is(asked.pending, 'barrier');
    assert.is(toByteText(asked.answer({ kind: 'barrier' })), 'cmd=barrier_out\n');
  });

  test('puts over the bounds, and foreign key spaces, are answered here', () => {
    const asked = running();
    assert.match(say(asked, `cmd=put kvsname=kvs key=K value=${'x'.repeat(1025)}\n`).reply, 'rc=-1 msg=value_too_long');
    assert.match(say(asked, `cmd=put kvsname=kvs key=${'x'.repeat(65)} value=1\n`).reply, 'rc=-1 msg=bad_key');
    assert.match(say(asked, 'cmd=put kvsname=other key=K value=1\n').reply, 'rc=-1 msg=kvs_not_found');
    assert.match(say(asked, 'cmd=get kvsname=other key=K\n').reply, 'rc=-1 msg=key_K_not_found');
    assert.is(asked.pending, undefined);
  });

  test('names are published, looked up and withdrawn', () => {
    const asked = running();
    const published = say(asked, 'cmd=publish_name service=my service port=tag#0$x$\n');
    assert.equal(published.events, [{ kind: 'publish', service: 'my service', port: 'tag#0$x$' }]);
    assert.is(toByteText(asked.answer({ kind: 'publish' })), 'cmd=publish_result info=ok rc=0 msg=success\n');
    say(asked, 'cmd=lookup_name service=S\n');
    const found = toByteText(asked.answer({ kind: 'lookup', value: 'P' }));
    assert.is(found, 'cmd=lookup_result port=P info=ok rc=0 msg=success\n');
    say(asked, 'cmd=lookup_name service=S\n');
    const missing = toByteText(asked.answer({ kind: 'lookup', value: undefined }));
    assert.is(missing, 'cmd=lookup_result rc=1 msg=service_not_found\n');
    assert.equal(say(asked, 'cmd=unpublish_name service=S\n').events, [{ kind: 'unpublish', service: 'S' }]);
    assert.is(toByteText(asked.answer({ kind: 'unpublish' })), 'cmd=unpublish_result info=ok rc=0 msg=success\n');
  });

  test('a spawn is one request of several blocks', () => {
    const programs: Pmi1Program[] = [
      { processes: 2, command: '/bin/a', args: ['-x', 'a b=c'], infos: [['wdir', '/tmp']], preputs: [['P', 'port']] },
      { processes: 1, command: 'b', args: [], infos: [], preputs: [] },
    ];
    const asked = running();
    const wire = toByteText(formatSpawn(programs));
    const words = 'nprocs=2\nexecname=/bin/a\ntotspawns=2\nspawnssofar=1\narg1=-x\narg2=a b=c\nargcnt=2\n';
    assert.ok(wire.startsWith(`mcmd=spawn\n${words}`), wire);
    assert.equal(say(asked, wire).events, [{ kind: 'spawn', programs }]);
    const answer = asked.answer({ kind: 'spawn', errorCodes: [0, 0, 0] });
    assert.is(toByteText(answer), 'cmd=spawn_result rc=0 errcodes=0,0,0\n');
  });

  test('an abort has its code and text, in the middle of a barrier too, and lines behind it say nothing', () => {
    const asked = running();
    say(asked, 'cmd=barrier_in\n');
    const said = say(asked, 'cmd=abort exitcode=68770575 message=Fatal error in x=y\nMPI_Init(1): no\nvalue\n');
    assert.equal(said, { reply: '', events: [{ kind: 'abort', exitCode: 68770575, message: 'Fatal error in x=y' }] });
  });

  test('finalize is acknowledged, and the end is none of a failure then', () => {
    const asked = running();
    assert.is(asked.isRunning, true);
    assert.equal(say(asked, 'cmd=finalize\n'), { reply: 'cmd=finalize_ack\n', events: [{ kind: 'finalize' }] });
    assert.is(asked.isRunning, false);
  });

  test('an unknown command is told, and answered so that nobody waits', () => {
    const said = say(running(), 'cmd=create_kvs\n');
    assert.equal(said, {
      reply: 'cmd=create_kvs_result rc=-1 msg=unknown_command\n', events: [{ kind: 'unknown', name: 'create_kvs' }],
    });
  });

  test('what breaks the order, or a bound, ends the connection', () => {
    const broken = (text: string, of = running()): void => {
      assert.throwsCode('STCI_FRAME_INVALID', () => say(of, text));
    };
    broken('cmd=get_maxes\n', server());
    broken(INIT);
    broken('cmd=finalize\ncmd=get_maxes\n');
    broken('cmd=barrier_in\ncmd=get_maxes\n');
    broken('x'.repeat(0x1_0001));
    broken(`mcmd=spawn\n${'a=b\n'.repeat(4097)}`);
    broken('mcmd=spawn\ntotspawns=99999999\nendcmd\n');
    broken('mcmd=spawn\ntotspawns=1\nargcnt=100000\nendcmd\n');
  });

  test('recorded dialogues get the recorded answers, in pieces of any length', () => {
    for (const { name, pieces } of dialogues('mpich')) {
      const [next, answers] = [seededIntegers(name.length), new Pmi1Reader()];
      answers.append(sentBy('<', pieces));
      const replayed = replay(split(sentBy('>', pieces), next), Number(name.at(-1)), answers);
      const recorded = toByteText(sentBy('<', pieces));
      assert.is(replayed, recorded.slice(0, replayed.length), name);
      assert.ok(name.includes('abort') || replayed.length === recorded.length, name);
    }
  });
});

/** What a server says to a recorded client if its owner answers as the recorded one did. */
function replay(pieces: readonly Uint8Array[], rank: number, recorded: Pmi1Reader): string {
  const replaying = new Pmi1Server({ rank, size: 2, kvsName: 'kvs_test', universeSize: 4 });
  let said = '';
  for (const piece of pieces) {
    replaying.append(piece);
    for (let step = replaying.next(); step !== undefined; step = replaying.next()) {
      if (step.event?.kind === 'abort') return said;
      const command = step.event?.kind === 'finalize' ? undefined : recorded.next();
      if (step.reply !== undefined) said += toByteText(step.reply);
      const pending = replaying.pending;
      if (pending === undefined) continue;
      const value = command?.fields.get('rc') === '0' ? command.fields.get('value') : undefined;
      said += toByteText(replaying.answer(pending === 'get' ? { kind: pending, value } : { kind: pending } as never));
    }
  }
  return said;
}

suite('PMI-1 lines', (test) => {
  test('what a client writes is read in pieces of any length', () => {
    for (let seed = 0; seed < 300; seed++) {
      const next = seededIntegers(seed);
      const bytes = Array.from({ length: next(200) }, () => String.fromCharCode(next(256)));
      const fields = { kvsname: 'k', key: `key${seed}`, value: bytes.join('').replace(/[\r\n]/g, '') };
      const reader = new Pmi1Reader();
      for (const piece of split(formatCommand('put', fields), next)) reader.append(piece);
      const command = reader.next();
      assert.equal([command?.name, Object.fromEntries(command?.fields ?? [])], ['put', fields]);
      assert.is(reader.next(), undefined);
    }
  });
});
