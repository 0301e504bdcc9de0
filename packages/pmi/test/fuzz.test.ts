/**
 * Mutants of recorded dialogues: a hostile client costs its own connection, and nothing else. STCI_FUZZ is how many
 * there are.
 */

import { Pmi1Server, PmixServerEnd } from '@stci/pmi';
import { StciError, joinBytes } from '@stci/interface';
import { assert, seeded, suite, type Seeded } from '@stci/testkit';
import { dialogues, sentBy, split } from './dialogues.js';

const MUTANTS = Number(process.env['STCI_FUZZ'] ?? 10_000);
/** Mutants of one turn. */
const BATCH = 1000;
const EXTREMES = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
const REFUSALS: readonly unknown[] = ['STCI_FRAME_INVALID', 'STCI_MESSAGE_INVALID'];

/** A few bytes are others, doubled, left out or inserted; often with an end soon behind them. */
function mutant(bytes: Uint8Array, draw: Seeded): Uint8Array {
  const start = draw.below(bytes.length);
  let changed: Uint8Array = draw.below(8) === 0 ? bytes.slice() : bytes.slice(0, start + 500);
  for (let count = 1 + draw.below(4); count > 0; count--) {
    const at = draw.below(2) === 0 ? draw.below(changed.length) : Math.min(changed.length - 1, start + draw.below(200));
    const byte = draw.below(2) === 0 ? draw.pick(EXTREMES) : draw.below(256);
    const kind = draw.below(8);
    if (kind < 5) changed[at] = byte;
    else if (kind === 5) changed = spliced(changed, at, 1 + draw.below(8), []);
    else if (kind === 6) changed = spliced(changed, at, 0, [byte, byte]);
    else changed = spliced(changed, at, 0, changed.slice(at, at + draw.below(64)));
  }
  return changed;
}

function spliced(bytes: Uint8Array, at: number, removed: number, inserted: Iterable<number>): Uint8Array {
  const after = bytes.subarray(at + removed);
  return joinBytes([bytes.subarray(0, at), Uint8Array.from(inserted), after.length > 0 ? after : Uint8Array.of(0)]);
}

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
    const { code } = feed(make(), mutant(draw.pick(sent), draw), draw);
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
