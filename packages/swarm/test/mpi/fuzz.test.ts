// @timeoutMs 600000
/**
 * Mutants of recorded dialogues against the service in simulated jobs: a hostile library costs its own connection, and
 * nothing else: no crash, no hang, nothing kept. STCI_FUZZ is how many there are, from seed STCI_SWARM_FROM on.
 */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { AgentNode } from '@stci/core';
import { MemoryPeaks, PLAIN, runJob, type RunHooks, type SwarmOptions } from '@stci/swarm';
import { assert, suite } from '@stci/testkit';
import { firstSeed } from '../first-seed.js';
import { hostileProgram, type HostileLog } from './hostile-program.js';

const MUTANTS = Number(process.env['STCI_FUZZ'] ?? 4000);
/** Of one job. */
const HOSTILE = 4;
const OF_PMIX = 125;
const OF_PMI1 = 125;
const HEAP_MIB_MAX = 256;
/** What an agent holds of the two ranks of its host that go on. */
const OWN = /^(?:listener for MPI libraries|MPI library of rank [0-3]|fence of MPI libraries, [12] wait here)$/u;
const CONNECTIONS_MAX = 2 * 2 + 2;

class Nodes extends MemoryPeaks {
  readonly all: AgentNode[] = [];
  override readonly onNode = (node: AgentNode): void => void this.all.push(node);

  /** What agents hold of libraries. */
  held(): (readonly [label: string, count: number])[] {
    return this.all.flatMap(({ holds }) => holds.rows().flatMap(([, label, count]) =>
      (/MPI librar/u.test(label) ? [[label, count] as const] : [])));
  }
}

function plan(seed: number, isPmix: boolean): SwarmOptions {
  const program = isPmix ? 'pmix' : 'pmi1';
  // Fences of PMI-1 are of all ranks of the job, and would end with the first hostile one.
  const good = { program: 'pmix', args: ['4', '60', '0.02', 'well', '-1', '0', 'own'], count: 4 };
  const count = isPmix ? HOSTILE : OF_PMI1;
  const bad = { program: 'hostile', args: [program, String(seed), String(isPmix ? OF_PMIX : 1)], count };
  return {
    ...PLAIN, seed, hosts: 2, slots: Math.ceil((4 + count) / 2), remote: true, byNode: true, apps: [good, bad],
    settings: { launcherproc: 'remote', errmgr: 'continue' },
  };
}

/** What is said of hostile ranks themselves, and of those that they spawn, is theirs. */
function isOfOthers(problem: string): boolean {
  return !/\(hostile\)|: no such rank$|which ended well$|^report: (?:exit code|and|\d+ ranks)|^output: /u.test(problem);
}

async function fuzz(isPmix: boolean): Promise<void> {
  const total = MUTANTS / 2;
  const perJob = isPmix ? HOSTILE * OF_PMIX : OF_PMI1;
  const first = firstSeed();
  let [seed, mutants, answers, closed] = [first, 0, 0, 0];
  let firstMiB = 0;
  for (; mutants < total; seed += perJob) {
    await new Promise(setImmediate);
    const nodes = new Nodes();
    const quiet = new Set<number>();
    let isChecked = false;
    const log: HostileLog = {
      mutants: 0, answers: 0, closed: 0, problems: [],
      isQuiet: (rank) => {
        quiet.add(rank);
        if (quiet.size < (isPmix ? HOSTILE : OF_PMI1)) return false;
        if (isChecked) return true;
        isChecked = true;
        const held = nodes.held().filter(([label, count]) => !OWN.test(label)
          && !(label === 'connection of an MPI library' && count <= CONNECTIONS_MAX));
        if (held.length > 0) log.problems.push(`held: ${JSON.stringify(held)}`);
        return true;
      },
    };
    const onWorld: RunHooks['onWorld'] = (world) => world.tool('hostile', hostileProgram(log));
    const { problems } = runJob(plan(seed, isPmix), { peaks: nodes, onWorld });
    assert.equal([seed, problems.filter(isOfOthers), log.problems], [seed, [], []]);
    mutants += log.mutants;
    answers += log.answers;
    closed += log.closed;
    if (firstMiB === 0) firstMiB = heapMiB();
  }
  const lastMiB = heapMiB();
  const which = `${isPmix ? 'PMIx' : 'PMI-1'}: seeds ${first} to ${seed - 1}`;
  process.stdout.write(`${which}, ${mutants} mutants: ${answers} answers, ${closed} connections closed, `
    + `heap ${firstMiB} MiB after the first job, ${lastMiB} MiB after the last\n`);
  assert.ok(answers > mutants / 10 && closed > 0 && closed < mutants, `${answers} answers, ${closed} closed`);
  assert.ok(lastMiB < HEAP_MIB_MAX, `${lastMiB} MiB are kept`);
}

/** Without what is not collected yet, which is more on a busy machine. */
function heapMiB(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return Math.round(process.memoryUsage().heapUsed / 0x10_0000);
}

suite('hostile MPI libraries', (test) => {
  const long = { timeoutMs: 120_000 + 20 * MUTANTS };
  test('PMIx', () => fuzz(true), long);
  test('PMI-1', () => fuzz(false), long);
});
