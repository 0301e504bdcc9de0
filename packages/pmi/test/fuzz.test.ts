/**
 * Mutants of recorded dialogues: a hostile client costs its own connection, and nothing else. STCI_FUZZ is how many
 * there are.
 */

import { Pmi1Server, PmixServerEnd } from '@stci/pmi';
import { StciError } from '@stci/interface';
import { assert, mutatedBytes, seeded, suite, type Seeded } from '@stci/testkit';
import { dialogues, sentBy, split } from './dialogues.js';

const MUTANTS = Number(process.env['STCI_FUZZ'] ?? 10_000);
/** Mutants of one turn. */
const BATCH = 1000;
const REFUSALS: readonly unknown[] = ['STCI_FRAME_INVALID', 'STCI_MESSAGE_INVALID'];

interface Machine {
  append(chunk: Uint8Array): void;
  next(): unknown;
}

/** What a mutant comes to: its steps, of which no more come than bytes. */
function feed(machine: Machine, bytes: Uint8Array, draw: Seeded): { readonly steps: number; readonly code: unknown } {
  let steps = 0;
  try {
    for (const piece of draw.below(4) === 0 ? split(bytes, draw.below) : [bytes]) {
      machine.append(piece);
      while (machine.next() !== undefined) {
        steps += 1;
        assert.ok(steps <= bytes.length, 'more steps than bytes');
      }
    }
  } catch (fault) {
    if (!(fault instanceof StciError) || !REFUSALS.includes(fault.code)) throw fault;
    return { steps, code: fault.code };
  }
  return { steps, code: undefined };
}

/** Runs a share of the mutants of a library's dialogues. */
async function fuzz(library: 'mpich' | 'openmpi', make: () => Machine): Promise<void> {
  const sent = dialogues(library).map(({ pieces }) => sentBy('>', pieces));
  let refused = 0;
  const heapBefore = process.memoryUsage().arrayBuffers;
  for (let seed = 0; seed < MUTANTS / 2; seed++) {
    if (seed % BATCH === 0) await new Promise(setImmediate);
    const draw = seeded(seed);
    const { code } = feed(make(), mutatedBytes(draw.pick(sent), draw), draw);
    assert.is.not(code, 'STCI_MESSAGE_INVALID', `seed ${seed}: a refused body left the machine`);
    if (code !== undefined) refused += 1;
  }
  assert.ok(refused > 0 && refused < MUTANTS / 2, `${refused} refused`);
  assert.ok(process.memoryUsage().arrayBuffers - heapBefore < 256 * 1024 * 1024, 'memory that mutants keep');
}

suite('mutants of recorded dialogues', (test) => {
  const long = { timeoutMs: 60_000 + MUTANTS };

  test('PMI-1', () => {
    return fuzz('mpich', () => {
      const server = new Pmi1Server({ rank: 0, size: 2, kvsName: 'kvs_test', universeSize: 4 });
      return {
        append: (chunk) => server.append(chunk),
        next() {
          const step = server.next();
          const { pending } = server;
          if (pending !== undefined) server.answer({ kind: pending, errorCodes: [], value: undefined } as never);
          return step;
        },
      };
    });
  }, long);

  test('PMIx', () => fuzz('openmpi', () => new PmixServerEnd()), long);
});
