/**
 * A root agent that was taken over, and what it may say of failures: of itself and others, by notifiers and detectors.
 * Others may be disturbed for a moment; nobody is lost, and the session ends as usual.
 */
// @timeoutMs 240000

import { CONTROLLER, type StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { encode } from '../../dist/codec/cbor.js';
import { ASKED_MAX, ASK_MS } from '../../dist/failure/disputed-deaths.js';
import type { MessageBody } from '../../dist/messages/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { Settings } from '../assembly.js';
import { at, bmgPairs, isIn, open, pairs } from '../overlay/overlay-help.js';

const HOSTS = 10;
const BAD = 3;
/** The parent of others in the boot tree. */
const VICTIM = 2;
const OTHERS = Array.from({ length: HOSTS }, (_, i) => i + 1).filter((position) => position !== BAD);
const RING: Settings = { detector: 'ring', 'detector.ring.period': '100ms', 'detector.ring.timeout': '1s' };

interface Place {
  readonly session: ReturnType<typeof open>;
  node(position: number): AgentNode;
  run(ms: number): void;
  /** By the notifier, as if from these members. */
  spread(notice: object, source?: readonly [position: number, incarnation: number], number?: number): void;
  say(to: number, message: MessageBody<'notifier.message'> | MessageBody<'detector.message'>): void;
  /** All links are there, and nobody was lost. */
  end(): void;
}

function place(settings: Settings): Place {
  const session = open(HOSTS, { ...RING, ...settings });
  const { nodes, world } = session;
  const node = (position: number): AgentNode => nodes.get(at(position)) as AgentNode;
  const run = (ms: number): void => void world.run({ untilMs: world.nowMs + ms, maxEvents: 5_000_000 });
  run(2000);
  const say: Place['say'] = (to, message) => {
    const name = 'detector' in message ? 'detector.message' : 'notifier.message';
    node(BAD).messages.send(at(to), name, message as never);
  };
  let sent = 0;
  const spread: Place['spread'] = (notice, source = [BAD, 1], number = sent++) => {
    const reporter = { position: source[0], incarnation: source[1] };
    const body = [...source, number, HOSTS + 1, [], encode({ ...NOTICE, reporter, ...notice })];
    const notifier = settings['overlay.topology'] === undefined ? 'tree' : 'lazy';
    for (let to = 0; to <= HOSTS; to++) if (to !== BAD) say(to, { notifier, incarnation: 1, body });
  };
  const end = (): void => {
    run(20_000);
    if (settings['overlay.topology'] !== undefined) assert.ok(isIn(pairs(session, HOSTS + 1), bmgPairs(HOSTS + 1)));
    for (let to = 1; to <= HOSTS; to++) assert.ok(node(to).router.parentLink !== undefined);
    // Ended by the runtime, not by a loss.
    assert.is(session.end(), 137);
  };
  return { session, node, run, spread, say, end };
}

const NOTICE = {
  cause: 'silent', evidence: 'no heartbeat', detector: 'ring', suspectedWallMs: 1, confirmedWallMs: 2,
};
const host = (position: number, incarnation: number): object => ({
  subject: { kind: 'host', host: position - 1, incarnation },
});

/** That the controller has sent. */
function countVerdicts(here: Place): () => number {
  const { messages } = here.node(0);
  const sendList = messages.sendList.bind(messages) as (...args: unknown[]) => StciError | undefined;
  let verdicts = 0;
  messages.sendList = (...args: readonly unknown[]) => {
    if (args[1] === 'failure.changes') verdicts += (args[2] as readonly unknown[]).length;
    return sendList(...args);
  };
  return () => verdicts;
}

suite('adversaries among detectors and notifiers', (define) => {
  const test = (name: string, body: () => void): void => define(name, body, { timeoutMs: 60_000 });


  for (const [label, settings] of [['an overlay', { 'overlay.topology': 'bmg' }], ['the tree', {}]] as const) {
    test(`over ${label}, notices of incarnations and hosts that are not there change nothing`, () => {
      const here = place(settings);
      for (const incarnation of [0, 2, 0xffff_ffff]) here.spread(host(VICTIM, incarnation));
      here.spread(host(0xffff_ffff, 1));
      here.end();
    });
  }

  test('an incarnation that somebody claims for himself does not count', () => {
    const here = place({});
    for (let to = 0; to <= HOSTS; to++) {
      if (to !== BAD) here.say(to, { detector: 'ring', incarnation: 0xffff_ffff, body: { type: 'observe' } });
    }
    here.end();
  });

  test('ranks of its own host that are not there have no records', () => {
    const here = place({});
    for (let rank = 20; rank < 40; rank++) {
      here.spread({ subject: { kind: 'tool', host: BAD - 1, job: 1, rank, attempt: 1 }, detector: 'process' });
    }
    here.run(2000);
    assert.equal(here.session.records, []);
    here.end();
  });

  test('tools of hosts that are not there are not recorded', () => {
    const here = place({});
    const reporter = { position: 71, incarnation: 1 };
    const subject = { kind: 'tool', host: 70, job: 1, rank: 0, attempt: 1 };
    const body = [71, 1, 0, 100, [], encode({ ...NOTICE, reporter, subject })];
    here.say(0, { notifier: 'tree', incarnation: 1, body });
    here.run(100);
    assert.equal(here.session.world.logLines.map(({ text }) => text), []);
    here.end();
  });

  for (const [label, settings] of [['an overlay', { 'overlay.topology': 'bmg' }], ['the tree', {}]] as const) {
    test(`over ${label}, who holds all others for dead again and again does not have all told each time`, () => {
      const here = place(settings);
      const verdicts = countVerdicts(here);
      const members = OTHERS.map((position) => ({ position, incarnation: 1 }));
      for (let i = 0; i < 100; i++) {
        here.node(BAD).messages.send(CONTROLLER, 'failure.seen', { seen: [], members });
        here.run(10);
      }
      const most = HOSTS * ASKED_MAX * (1 + 1000 / ASK_MS);
      assert.ok(verdicts() > 0 && verdicts() <= most, `${verdicts()} verdicts, at most ${most}`);
      here.end();
    });
  }

  test('names of detectors that are none do not fill the controller\'s metrics', () => {
    const here = place({});
    for (let i = 0; i < 1200; i++) {
      const subject = { kind: 'tool', host: BAD - 1, job: 1, rank: i, attempt: 1 };
      here.spread({ subject, detector: `d${i}` });
      if (i % 100 === 0) here.run(20);
    }
    here.end();
  });

  for (const [label, settings] of [['an overlay', { 'overlay.topology': 'bmg' }], ['the tree', {}]] as const) {
    test(`over ${label}, who reports all others at once does not have them lost`, () => {
      const here = place(settings);
      for (const position of OTHERS) here.spread(host(position, 1));
      here.end();
    });

    test(`over ${label}, who reports others again and again does not have them lost, nor all told each time`, () => {
      const here = place(settings);
      const verdicts = countVerdicts(here);
      for (let i = 0; i < 100; i++) {
        for (const position of OTHERS) here.spread(host(position, 1));
        here.run(50);
      }
      const most = HOSTS * (6 * OTHERS.length + ASKED_MAX * (1 + 5000 / ASK_MS));
      assert.ok(verdicts() > 0 && verdicts() <= most, `${verdicts()} verdicts, at most ${most}`);
      here.end();
    });
  }
});
