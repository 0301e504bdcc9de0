/** The table of message types: an example of each passes, also after its way through CBOR; what is spoilt does not. */

import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { checkBody, messageId, messageName, type MessageName } from '../../dist/am/messages.js';
import { decode, encode } from '../../dist/codec/cbor.js';

const ERROR = { code: 'STCI_AGENT_LOST', message: 'gone' };

const RANK_END = {
  rank: 0, pid: 5, outcome: 'exited', end: { status: 0 }, error: ERROR, startWallMs: 1.5, endWallMs: 2.5, leftovers: 0,
};

const EXAMPLES: Readonly<Record<MessageName, unknown>> = {
  'agent.up': { host: 0, pid: 1, hostname: 'h' },
  'agent.stop': { reason: 'r' },
  'agent.failed': { kind: 'agent-lost', agent: 0x2000_0001, error: ERROR, wallMs: 1.5 },
  'agent.echo': ['anything'],
  'job.failure': { error: { code: 'STCI_TOOL_STATUS', message: 'no' } },
  'job.unread': { host: 3 },
  'launch.restart': { host: 3, subtree: [['h3', '']] },
  'launch.takeover': { host: 3, subtree: [['', '']] },
  'job.launch': {
    job: 1, session: 'ab', size: 2, nodes: 1, apps: [{ program: 'p', args: [], env: {} }], env: {}, wdir: '/',
    stdin: { to: 'none' }, creditBytes: 1, hosts: [[0, [[0, 0, 2, 1]]]],
  },
  'job.started': { host: 0, ranks: [[0, 10, 1.5]] },
  'job.exited': { host: 0, ranks: [RANK_END] },
  'job.drained': { host: 0, swept: 0 },
  'job.signal': { signal: 'SIGUSR1' },
  'job.end': { kill: false, reason: 'r' },
  'job.submit': { spec: {} },
  'job.control': { verb: 'end' },
  'job.event': { type: 'running' },
  'stream.open': { id: 2, members: [0, 1], topology: { kind: 'tree', options: {} }, reduction: 'sum' },
  'stream.close': { stream: 2 },
};

/** Fields that may be absent. */
const OPTIONAL = ['end', 'error', 'startWallMs', 'options'];

/** Parts that are passed on as they are: their own validators look into them. */
const OPAQUE = ['agent.echo', 'job.submit.spec', 'job.control', 'job.event', 'job.launch.apps[0]', 'job.launch.env',
  'job.launch.stdin', 'topology.options', 'ranks[0].end'];

type Path = readonly (string | number)[];

function paths(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const below = Object.keys(value).flatMap((key) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return paths((value as Record<string, unknown>)[key], [...at, step]);
  });
  return [at, ...below];
}

function withChange(value: unknown, path: Path, change: (parent: Record<string | number, unknown>,
  key: string | number) => void): unknown {
  const copy = structuredClone({ root: value }) as Record<string | number, unknown>;
  const keys = ['root', ...path];
  let parent = copy;
  for (const key of keys.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>;
  change(parent, keys.at(-1) as string | number);
  return copy['root'];
}

const words = (name: string, path: Path): string =>
  path.reduce<string>((text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${step}`), name);

suite('message types', (test) => {
  test('each has a number of its own, and is found by it', () => {
    const names = Object.keys(EXAMPLES) as MessageName[];
    for (const name of names) assert.is(messageName(messageId(name)), name);
    assert.is(new Set(names.map(messageId)).size, names.length);
    assert.is(messageName(0xffff), undefined);
  });

  for (const name of Object.keys(EXAMPLES) as MessageName[]) {
    test(`${name}: its example passes, with what a newer peer adds`, () => {
      const example = EXAMPLES[name];
      assert.equal(checkBody(name, decode(encode(example))), example as never);
      if (name !== 'agent.echo') checkBody(name, { ...(example as object), added: 1 });
    });

    test(`${name}: each part that is missing or of another type is refused with its place`, () => {
      for (const path of paths(EXAMPLES[name])) {
        const place = words(name, path);
        if (name === 'agent.echo' || OPAQUE.some((part) => place.includes(`${part}.`) ||
          place.includes(`${part}[`))) continue;
        const last = String(path.at(-1));
        const spoil = (put: unknown): unknown => withChange(EXAMPLES[name], path,
          (parent, key) => { parent[key] = put; });
        const optional = OPTIONAL.includes(last) && place !== 'agent.failed.error';
        for (const put of [Symbol.for('x'), NaN, ...(optional ? [] : [undefined, null])]) {
          if (Number.isNaN(put) && /wallMs$|WallMs$|\[2\]$/.test(place)) continue;
          try {
            checkBody(name, spoil(put));
            assert.unreachable(`${place} = ${String(put)} passed`);
          } catch (fault) {
            assert.ok(fault instanceof StciError && fault.code === 'STCI_MESSAGE_INVALID',
              `${place}: ${String(fault)}`);
            assert.match(fault.message, place, 'the path');
          }
        }
      }
    });
  }
});
