/**
 * The suite of detectors finds each mistake, names the promise that is broken, with the smallest example.
 * Mutants are made of the detector of `stci plugin new`, a ring of pings.
 */

// @timeoutMs 300000
import {
  BrokenPromise, DETECTOR, detectorCompliance, detectorExample, type DetectorCase, type DetectorComponent,
  type DetectorExample,
} from '@stci/compliance';
import type { Detector, DetectorEvent, DetectorInit, DetectorModule } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { examplesOf } from './examples.js';
import { templateOf } from './templates.js';

const right = await templateOf<DetectorComponent>('detector');

const CASES: readonly DetectorCase[] = [{ label: 'fast', params: { period: '100ms', timeout: '300ms' }, seeds: 5 }];
const LONG = { timeoutMs: 100_000 };

type Change = (module: DetectorModule) => Partial<DetectorModule>;

const changed = (change: Change): DetectorComponent => ({
  ...right,
  create: (...args) => {
    const module = right.create(...args);
    return { ...module, ...change(module) };
  },
});

/** What a detector does with events, changed; each has its own. */
type Behaviour = (right: Detector, init: DetectorInit) => Detector['on'];

const behaving = (make: () => Behaviour): DetectorComponent => changed(({ open }) => {
  const behaviour = make();
  return {
    open: (init) => {
      const detector = open(init);
      const on = behaviour(detector, init);
      return { get dueMs() { return detector.dueMs; }, on };
    },
  };
});

/** Tells one death, and no other agent's. */
const tellsOne: Behaviour = (detector) => {
  let told: number | undefined;
  return (event, nowMs) => detector.on(event, nowMs).filter((action) => {
    if (action.type !== 'report' || !('position' in action.failed)) return true;
    told ??= action.failed.position;
    return told === action.failed.position;
  });
};

const deaf = (type: DetectorEvent['type']): Behaviour => (detector) =>
  (event, nowMs) => (event.type === type ? [] : detector.on(event, nowMs));

/** Accuses the next agent once it stood still. Of two only: on real sockets are more, and anybody may stand still. */
const accuses: Behaviour = (detector, { self, members }) => {
  const all = members.living();
  const next = all.find(({ position }) => position > self.position) ?? all[0]!;
  return (event, nowMs) => {
    const [cause, evidence] = ['silent', 'of its own'] as const;
    const report = { type: 'report', failed: next, cause, evidence, suspectedMs: nowMs } as const;
    return [...detector.on(event, nowMs), ...(event.type === 'lag' && all.length === 2 ? [report] : [])];
  };
};

/** Knows bodies by their identity, which links do not keep. */
const sameObjects = (): Behaviour => {
  const bodies = new WeakSet();
  return (detector) => (event, nowMs) => {
    if (event.type === 'message' && !bodies.has(event.body as object)) return [];
    const actions = detector.on(event, nowMs);
    for (const action of actions) if (action.type === 'send') bodies.add(action.body as object);
    return actions;
  };
};

/** What it does depends on how often it was asked, in all runs. */
const counts = (): Behaviour => {
  let count = 0;
  return (detector) => (event, nowMs) => {
    const suspect = { type: 'suspect', member: { position: 1, incarnation: 1 }, evidence: `${count++}` } as const;
    return [...detector.on(event, nowMs), ...(event.type === 'start' ? [suspect] : [])];
  };
};

/** Cannot read bytes. */
const throws: Behaviour = (detector) => (event, nowMs) => {
  if (event.type === 'message' && event.body instanceof Uint8Array) throw new TypeError('bytes');
  return detector.on(event, nowMs);
};

const MISTAKES: Readonly<Record<keyof typeof DETECTOR.promises, readonly [DetectorComponent, object]>> = {
  record: [{ ...right, help: 'no sentence' }, {}],
  promise: [
    changed(({ promise }) => ({
      promise: (request) => (request.members < 4 ? promise(request) : { ...promise(request), text: 'perhaps' }),
    })),
    { case: 'fast', size: 4 },
  ],
  quiet: [
    changed(({ promise }) => ({
      promise: (request) => {
        const figures = promise(request);
        const share = (each: number): number => each / 2;
        return { ...figures, messagesPerSecond: share(figures.messagesPerSecond),
          bytesPerSecond: share(figures.bytesPerSecond) };
      },
    })),
    { case: 'fast', size: 2, seed: 1 },
  ],
  interval: [
    changed(({ promise }) => ({
      promise: (request) => {
        const figures = promise(request);
        const maxMs = figures.detection?.maxMs ?? 0;
        return { ...figures, detection: { minMs: maxMs - 1, maxMs } };
      },
    })),
    { case: 'fast', size: 2, seed: 1, deaths: [{ position: 1, atMs: 0 }] },
  ],
  several: [
    behaving(() => tellsOne),
    { case: 'fast', size: 3, seed: 1, deaths: [{ position: 1, atMs: 0 }, { position: 2, atMs: 0 }] },
  ],
  standstill: [
    behaving(() => accuses),
    { case: 'fast', size: 2, seed: 1 },
  ],
  joined: [
    behaving(() => (detector, { members: { size } }) => (event, nowMs) =>
      (event.type === 'joined' && event.member.position >= size ? [] : detector.on(event, nowMs))),
    { case: 'fast', size: 1, seed: 1, deaths: [{ position: 1, atMs: 0 }] },
  ],
  left: [
    behaving(() => (detector, { members }) => {
      const isWhole = members.absent.size === 0;
      return (event, nowMs) => (isWhole ? detector.on(event, nowMs) : []);
    }),
    { case: 'fast' },
  ],
  refuted: [
    behaving(() => deaf('refuted')), { case: 'fast', size: 2, seed: 1, deaths: [{ position: 1, atMs: 0 }] },
  ],
  links: [
    behaving(() => (detector) => (event, nowMs) => {
      if (event.type === 'link') throw new Error('no links');
      return detector.on(event, nowMs);
    }),
    { case: 'fast', size: 2, seed: 1 },
  ],
  restart: [
    behaving(() => deaf('joined')),
    { case: 'fast', size: 2, seed: 1, deaths: [{ position: 1, atMs: 0 }], downMs: 415 },
  ],
  strange: [behaving(() => throws), { case: 'fast', size: 2, seed: 1, body: '3 bytes' }],
  metrics: [
    changed(({ metrics }) => ({ metrics: { ...metrics, wonders: { type: 'counter', help: 'Never seen.' } } })),
    { case: 'fast', size: 7 },
  ],
  same: [behaving(counts), { case: 'fast', size: 2, seed: 1, deaths: [{ position: 1, atMs: 0 }] }],
  sockets: [behaving(sameObjects), { case: 'fast', size: 4 }],
};

suite('detector compliance finds', (test) => {
  test('nothing in the right one', async () => {
    assert.equal(await examplesOf(() => detectorCompliance(right, CASES)), []);
  }, LONG);

  for (const [promise, [component, example]] of Object.entries(MISTAKES)) {
    test(`${promise} broken`, async () => {
      const found = await examplesOf(() => detectorCompliance(component, CASES), promise);
      const wanted = Object.entries({ promise, ...example }).map(([key, value]) => [key, JSON.stringify(value)]);
      const isFound = found.map((one) => JSON.parse(one) as Record<string, unknown>)
        .some((one) => wanted.every(([key, value]) => JSON.stringify(one[String(key)]) === value));
      assert.ok(isFound, `${JSON.stringify({ promise, ...example })} is not among\n${found.join('\n')}`);
    }, LONG);
  }

  test('and the example is found again', async () => {
    const [component, example] = MISTAKES.several;
    const found = { promise: 'several', ...example } as DetectorExample;
    await detectorExample(right, found, CASES);
    const thrown: unknown = await detectorExample(component, found, CASES).catch((error: unknown) => error);
    assert.ok(thrown instanceof BrokenPromise && thrown.promise === 'detector.several');
    assert.match(thrown.message, `again: detectorExample(component, ${JSON.stringify(found)}, cases)`);
  });
});
