/**
 * The suite of notifiers finds each mistake, names the promise that is broken, with the smallest example.
 * Mutants are made of the notifier of `stci plugin new`, whose source sends to each.
 */

// @timeoutMs 300000
import {
  BrokenPromise, NOTIFIER, notifierCompliance, notifierExample, type NotifierComponent, type NotifierExample,
} from '@stci/compliance';
import { NOTIFIER_PAYLOAD_MAX } from '@stci/interface';
import { MemberView } from '@stci/core/component';
import type {
  Members, Notifier, NotifierAction, NotifierEvent, NotifierModule, NotifierPromise, NotifierPromiseRequest,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { examplesOf } from './examples.js';
import { templateOf } from './templates.js';

const right = await templateOf<NotifierComponent>('notifier');

const OPTIONS = { seeds: 30 };
const LONG = { timeoutMs: 100_000 };

const changed = (change: (module: NotifierModule) => Partial<NotifierModule>): NotifierComponent => ({
  ...right,
  create: (...args) => {
    const module = right.create(...args);
    return { ...module, ...change(module) };
  },
});

/** What a notifier does with events, changed. */
type Behaviour = (right: Notifier) => Notifier['on'];

const behaving = (behaviour: Behaviour): NotifierComponent =>
  changed(({ open }) => ({
    open: (init) => {
      const notifier = open(init);
      const on = behaviour(notifier);
      return { get dueMs() { return notifier.dueMs; }, on };
    },
  }));

const deaf = (isUnheard: (event: NotifierEvent) => boolean): NotifierComponent =>
  behaving((notifier) => (event, nowMs) => (isUnheard(event) ? [] : notifier.on(event, nowMs)));

/** It sees other members than there are. */
const seeing = (wrong: (members: Members) => Members): NotifierComponent =>
  changed(({ open }) => ({ open: (init) => open({ ...init, members: wrong(init.members) }) }));

/** Those of the start, for ever. */
const first = (members: Members): Members => {
  const [self, ...others] = members.living();
  return new MemberView(self!, others);
};

const firstIncarnations = (members: Members): Members => ({
  get size() { return members.size; },
  get absent() { return members.absent; },
  get alive() { return members.alive; },
  living: () => members.living(),
  has: (member) => members.has(member),
  isGone: (member) => members.isGone(member),
  at: (position) => {
    const member = members.at(position);
    return member === undefined || member.incarnation > 1 ? undefined : member;
  },
});

const promising = (change: (request: NotifierPromiseRequest) => Partial<NotifierPromise>): NotifierComponent =>
  changed(({ promise }) => ({ promise: (request) => ({ ...promise(request), ...change(request) }) }));

/** What comes again is delivered again. */
const repeats: Behaviour = (notifier) => {
  const before = new Map<unknown, readonly NotifierAction[]>();
  return (event, nowMs) => {
    const actions = (event.type === 'message' ? before.get(event.body) : undefined) ?? notifier.on(event, nowMs);
    if (event.type === 'message') before.set(event.body, actions);
    return actions;
  };
};

const throws: Behaviour = (notifier) => (event, nowMs) => {
  try {
    return notifier.on(event, nowMs);
  } catch (error) {
    throw event.type === 'message' ? new TypeError('no broadcast') : error;
  }
};

let broadcasts = 0;
/** Every other broadcast goes the other way around. */
const alternates: Behaviour = (notifier) => (event, nowMs) => {
  const actions = notifier.on(event, nowMs);
  return event.type === 'broadcast' && broadcasts++ % 2 === 1 ? actions.toReversed() : actions;
};

const dead = (...positions: number[]) => ({ failures: positions.map((position) => ({ position, sends: 0 })) });

const MISTAKES: Readonly<Record<keyof typeof NOTIFIER.promises, readonly [NotifierComponent, object]>> = {
  record: [{ ...right, version: '1' }, {}],
  promise: [promising(({ members }) => (members > 3 ? { text: 'perhaps' } : {})), { size: 4, failing: 0 }],
  quiet: [
    promising(({ members, failures }) => (members === 4 && failures === 0 ? { messages: 2 } : {})),
    { size: 4, seed: 0, source: 0 },
  ],
  failures: [
    promising(({ members, failures }) => (members === 5 && failures === 2 ? { messages: 0 } : {})),
    { size: 5, seed: 0, source: 0, ...dead(1, 2) },
  ],
  uniform: [
    promising(() => ({ isUniform: true })), { size: 3, seed: 1, source: 0, failures: [{ position: 0, sends: 1 }] },
  ],
  gone: [
    seeing(first),
    { size: 2, seed: 0, source: 0, failures: [{ position: 1, sends: 0, isKnown: true }] },
  ],
  joined: [
    seeing(first),
    { size: 1, seed: 0, joins: 1 },
  ],
  incarnation: [seeing(firstIncarnations), { size: 3, seed: 0, source: 1 }],
  repeated: [behaving(repeats), { size: 2, seed: 0, rounds: 1 }],
  payload: [
    deaf((event) => event.type === 'broadcast' && event.payload.length > NOTIFIER_PAYLOAD_MAX),
    { size: 2, source: 0 },
  ],
  malformed: [behaving(throws), { size: 2, seed: 0, source: 0 }],
  same: [behaving(alternates), { size: 3, seed: 0, source: 0 }],
};

suite('notifier compliance finds', (test) => {
  test('nothing in the right one', async () => {
    assert.equal(await examplesOf(() => notifierCompliance(right, OPTIONS)), []);
  }, LONG);

  for (const [promise, [component, example]] of Object.entries(MISTAKES)) {
    test(`${promise} broken`, async () => {
      const found = [...new Set(await examplesOf(() => notifierCompliance(component, OPTIONS), promise))];
      if (promise !== 'uniform') {
        const expected = JSON.stringify({ promise, ...example });
        return assert.ok(found.includes(expected), `${expected} is not among\n${found.join('\n')}`);
      }
      // Two members that die while they tell may not become fewer in one step: which of two ends it has is the seed's.
      const { size = 0, failures = [], ...rest } = JSON.parse(found[0] ?? '{}') as NotifierExample;
      assert.equal([found.length, rest.promise, rest.source, failures.length], [1, promise, 0, 1]);
      assert.ok(size <= 5, String(size));
    }, LONG);
  }

  test('and the example is found again', () => {
    const [component, example] = MISTAKES.uniform;
    const found = { promise: 'uniform', ...example } as NotifierExample;
    notifierExample(right, found, OPTIONS);
    try {
      notifierExample(component, found, OPTIONS);
      assert.unreachable('it throws');
    } catch (thrown) {
      assert.ok(thrown instanceof BrokenPromise && thrown.promise === 'notifier.uniform');
    }
  });
});
