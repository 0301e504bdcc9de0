/** MPI programs of a simulated job. */

import type { SimRandom } from '@stci/platform-sim';
import type { MpiEnd } from '../mpi/mpi-program.js';
import type { AppPlan } from './programs.js';

const ENDS: readonly MpiEnd[] = ['abort', 'leave', 'die', 'die', 'fail', 'garbage'];
const STEPS_MAX = 12;

export function drawMpi(random: SimRandom, count: number): AppPlan {
  const isPmix = random.chance(0.65);
  const isWell = random.chance(0.5);
  const rounds = random.pick([0, 1, 4, 9]);
  const seconds = random.pick([0, 0, 0.01, 0.2]);
  const end = isWell ? 'well' : random.pick(ENDS);
  // A library can abort once it has begun.
  const early = (end === 'abort' ? 1 : 0) + random.integer(STEPS_MAX);
  const step = random.chance(0.3) ? random.pick([-1, -2]) : early;
  const args = [count, rounds, seconds, end, isWell ? -1 : random.integer(count), step].map(String);
  const flags = [
    ...(isPmix && random.chance(0.4) ? ['direct'] : []), ...(isPmix && random.chance(0.5) ? ['groups'] : []),
    ...(isPmix && random.chance(0.2) ? ['early'] : []),
    ...(random.chance(0.5) ? [`in=${random.pick([0.05, 0.2, 1, 20])}`] : []),
  ];
  const all = [...args, ...(flags.length > 0 ? [flags.join(',')] : [])];
  return { program: isPmix ? 'pmix' : 'pmi1', args: all, count };
}
