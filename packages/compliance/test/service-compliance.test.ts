/** The suite of services finds each mistake with the smallest job. Right ones: the template, examples/roll-call. */

import { SERVICE, serviceCompliance, serviceExample, type ServiceComponent } from '@stci/compliance';
import { accept, decline, defineComponent, serviceFramework } from '@stci/core/component';
import type { Channel, ControllerService, HostService, ServiceController, ServiceHost } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { examplesOf } from './examples.js';
import { templateOf } from './templates.js';

const right = await templateOf<ServiceComponent>('service');

interface Change {
  host?(part: ServiceHost, host: HostService): HostService;
  controller?(part: ServiceController, controller: ControllerService): ControllerService;
  readonly isAlone?: boolean;
}

/** The template's component, but for what is changed. */
function wrong({ host, controller, isAlone = false }: Change, more: Partial<ServiceComponent> = {}): ServiceComponent {
  const module = right.create({}, {}, undefined);
  return defineComponent({
    framework: serviceFramework, name: 'wrong', version: '1.0.0', frameworkVersion: 1, help: 'It is wrong.', params: {},
    query: () => accept(1),
    create: () => ({
      atHost: (part) => {
        const own = module.atHost(part);
        return { ...own, ...host?.(part, own) };
      },
      ...(!isAlone && {
        atController: (part) => {
          const own = module.atController?.(part) ?? {};
          return { ...own, ...controller?.(part, own) };
        },
      }),
    }),
    ...more,
  });
}

const env = (of: (rank: number, attempt: number) => unknown): Change =>
  ({ host: () => ({ onStart: (rank, attempt) => ({ env: of(rank, attempt) as Record<string, string> }) }) });

let jobs = 0;
/** Of all jobs. */
const parts: ServiceHost[] = [];
const bound = (onData: (chunk: Uint8Array) => void) => (channel: Channel): void =>
  channel.bind({ onData, onDrain: () => undefined, onClose: () => undefined });

/** By promise: components that break it, each with the job that is found. */
const MISTAKES: Readonly<Record<keyof typeof SERVICE.promises, readonly (readonly [ServiceComponent, object])[]>> = {
  record: [
    [wrong({}, { help: 'no sentence' }), {}],
    [wrong({}, { query: ((count) => () => (count++ > 0 ? accept(1) : decline('not yet')))(0) }), {}],
    [wrong({}, { create: () => ({}) as never }), {}],
  ],
  open: [
    [wrong({ host: () => ({ open: () => undefined }) }), { hosts: 1, ranks: 1 }],
    [wrong({ host: () => ({ open: (done) => (done(), done()) }) }), { hosts: 1, ranks: 1 }],
  ],
  env: [
    [wrong(env(() => ({ 'NO NAME': 'x' }))), { hosts: 1, ranks: 1 }],
    [wrong(env(() => ({ STCI_RANK: '7' }))), { hosts: 1, ranks: 1 }],
    [wrong(env((rank) => ({ COUNT: rank > 1 ? rank : 'x' }))), { hosts: 1, ranks: 3 }],
  ],
  plain: [
    [wrong({ host: (part) => ({ onEnd: () => part.send(() => 7) }) }), { hosts: 1, ranks: 1 }],
    [wrong({ host: (part) => ({ onEnd: () => part.send('x') }), isAlone: true }), { hosts: 1, ranks: 1 }],
    [wrong({
      host: (part) => ({ onEnd: () => part.send('x') }),
      controller: (part) => ({ onMessage: () => part.send(part.hosts.length, 'x') }),
    }), { hosts: 1, ranks: 1 }],
  ],
  same: [[wrong({ host: () => ({ onStart: () => ({ env: { N: String(jobs++) } }) }) }), { hosts: 1, ranks: 1 }]],
  again: [[wrong(env((_rank, attempt) => (attempt > 1 ? {} : { FIRST: '1' }))), { hosts: 1, ranks: 1 }]],
  course: [
    [wrong({ host: () => ({ onEnd: (_rank, attempt) => { if (attempt > 1) throw new Error('oops'); } }) }), {}],
    [wrong({
      host: (part) => ({ onStart: (rank) => (part.send(rank), {}) }),
      controller: () => ({ onHostLost: () => { throw new Error('lost'); } }),
    }), {}],
  ],
  bytes: [[wrong({
    host: () => ({
      onStart: () => ({ socket: bound((chunk) => void JSON.parse(new TextDecoder().decode(chunk))) }),
    }),
  }), {}]],
  close: [[wrong({
    host: (part) => {
      parts.push(part);
      return { close: () => parts.forEach((each) => each.send('bye')) };
    },
  }), {}]],
};

suite('service compliance finds', (test) => {
  test('nothing in the right one', async () => {
    assert.equal(await examplesOf(() => serviceCompliance(right)), []);
  }, { timeoutMs: 60_000 });

  for (const [promise, mistakes] of Object.entries(MISTAKES)) {
    for (const [index, [component, example]] of mistakes.entries()) {
      test(`${promise} broken, ${index + 1}`, async () => {
        const found = await examplesOf(() => serviceCompliance(component), promise);
        assert.ok(found.length > 0, 'it finds one');
        const expected = JSON.stringify({ promise, ...example });
        const isFound = found.some((one) => one.startsWith(expected.slice(0, -1)));
        assert.ok(isFound, `${expected} is not among\n${found.join('\n')}`);
      }, { timeoutMs: 60_000 });
    }
  }

  test('and the example is found again', () => {
    const [[component, example] = [right, {}]] = MISTAKES.open;
    serviceExample(right, { promise: 'open', ...example });
    assert.throws(() => serviceExample(component, { promise: 'open', ...example }), 'service.open is broken');
  });
});
