/**
 * The programs of a simulated job, and what each must write and how it must end: computed here from its arguments,
 * by no code of the runtime.
 */

import { joinBytes, type ErrorCode, type ProcessEnd } from '@stci/interface';
import { SimRandom, lineBytes, textBytes } from '@stci/platform-sim';

export interface AppPlan {
  readonly program: string;
  readonly args: readonly string[];
  readonly count: number;
  readonly wdir?: string;
}

/** What a rank does when it is left undisturbed. */
export interface Expected {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly end: ProcessEnd | undefined;
  /** Where it cannot be started. */
  readonly error: ErrorCode | undefined;
}

interface RankContext {
  readonly rank: number;
  readonly hostname: string;
  /** All of its standard input. */
  readonly stdin: Uint8Array;
}

const EMPTY = new Uint8Array(0);

type Draw = (random: SimRandom) => readonly string[];

const number = (random: SimRandom, ...values: readonly number[]): string => String(random.pick(values));

/** Programs that end with 0, whatever else happens. */
const SMOOTH: readonly Draw[] = [
  () => ['true'],
  () => ['echo', 'hello', 'world'],
  () => ['hostname'],
  (random) => ['sleep', number(random, 0.001, 0.05, 1)],
  (random) => ['lines', number(random, 1, 50, 1000), number(random, 30, 80, 3000)],
  (random) => ['lines', number(random, 5, 20), '60', number(random, 0.001, 0.05)],
  (random) => ['mixed', number(random, 10, 400, 3000), number(random, 40, 100)],
  (random) => ['stderr', number(random, 3, 300), '72'],
  (random) => ['mixed', '20000', number(random, 40, 100)],
  () => ['cat'],
  () => ['count-input'],
  () => ['read-one-line-and-exit'],
  (random) => ['close-stdout', number(random, 0.001, 0.3)],
  () => ['fork', 'sleep', '60'],
  () => ['fork', '--session', 'sleep', '60'],
  () => ['fork', '--session', '--quiet', '--wait', '0.1', 'sleep', '60'],
  (random) => ['fork', 'lines', number(random, 10, 500), '50'],
];

const ROUGH: readonly Draw[] = [
  () => ['false'],
  (random) => ['exit', number(random, 1, 3, 7, 192), number(random, 0, 0.01, 0.5)],
  (random) => ['lines-exit', number(random, 10, 900), '80', '0', number(random, 1, 2)],
  (random) => ['crash', random.pick(['SIGSEGV', 'SIGABRT']), number(random, 0, 0.02, 0.7)],
  (random) => ['ignore-term', number(random, 0.05, 2.5)],
  () => ['no-such-program'],
  () => ['not-executable'],
];

const LONG: readonly Draw[] = [
  (random) => ['sleep', number(random, 0.5, 2)],
  () => ['lines', '300', '80', '0.005'],
  (random) => ['ignore-term', number(random, 1, 2.5)],
  (random) => ['fork', '--wait', '1', ...random.pick([[], ['--session']]), 'lines', '1000', '80', '0.002'],
  (random) => ['exit', number(random, 0, 5), '1.2'],
];

export function drawLongApp(random: SimRandom, count: number): AppPlan {
  const [program = 'sleep', ...args] = random.pick(LONG)(random);
  return { program, args, count };
}

export function drawApp(random: SimRandom, count: number, isSmooth: boolean): AppPlan {
  const draws = isSmooth || random.chance(0.6) ? SMOOTH : ROUGH;
  const [program = 'true', ...args] = random.pick(draws)(random);
  const isLost = !isSmooth && random.chance(0.05);
  // A flood from many is a flood of events, and shows no more than one from two.
  const some = args[0] === '20000' ? Math.min(count, 2) : count;
  return { program, args, count: some, ...(isLost && { wdir: '/missing' }) };
}

type Output = Pick<Expected, 'stdout' | 'stderr'>;
type Ending = Pick<Expected, 'end' | 'error'>;

function lines(rank: number, args: readonly string[], streams: readonly (keyof Output)[]): Output {
  const [count = 10, bytes = 80, seconds = 0] = args.map(Number);
  const burst = seconds > 0 ? 1 : Math.max(1, Math.floor(16_384 / bytes));
  const written: Record<keyof Output, Uint8Array[]> = { stdout: [], stderr: [] };
  for (let first = 0; first < count; first += burst) {
    const stream = streams[(first / burst) % streams.length] as keyof Output;
    written[stream].push(lineBytes(String(rank), stream, first, Math.min(burst, count - first), bytes));
  }
  return { stdout: joinBytes(written.stdout), stderr: joinBytes(written.stderr) };
}

function outputOf(app: AppPlan, { rank, hostname, stdin }: RankContext): Output {
  const only = (stdout: Uint8Array): Output => ({ stdout, stderr: EMPTY });
  switch (app.program) {
    case 'echo':
      return only(textBytes(`${app.args.join(' ')}\n`));
    case 'hostname':
      return only(textBytes(`${hostname}\n`));
    case 'cat':
      return only(stdin);
    case 'count-input':
      return only(textBytes(`${stdin.length}\n`));
    case 'lines':
    case 'lines-exit':
      return lines(rank, app.args, ['stdout']);
    case 'stderr':
      return lines(rank, app.args, ['stderr']);
    case 'mixed':
      return lines(rank, app.args, ['stdout', 'stderr']);
    default:
      return only(EMPTY);
  }
}

export function endOf(app: AppPlan): Ending {
  const [first = '0'] = app.args;
  const status = (value: number | string): Ending => ({ end: { status: Number(value) }, error: undefined });
  const fails = (error: ErrorCode): Ending => ({ end: undefined, error });
  if (app.wdir === '/missing') return fails('STCI_PROGRAM_WDIR');
  switch (app.program) {
    case 'false':
      return status(1);
    case 'exit':
      return status(first);
    case 'lines-exit':
      return status(app.args[3] ?? '1');
    case 'crash':
      return { end: { signal: first as `SIG${string}` }, error: undefined };
    case 'no-such-program':
      return fails('STCI_PROGRAM_NOT_FOUND');
    case 'not-executable':
      return fails('STCI_PROGRAM_NOT_EXECUTABLE');
    default:
      return status(0);
  }
}

export function expectedOf(app: AppPlan, where: RankContext): Expected {
  const { end, error } = endOf(app);
  return error === undefined ? { ...outputOf(app, where), end, error } : { stdout: EMPTY, stderr: EMPTY, end, error };
}

/** Children that a program leaves behind may write too, and results of agreements depend on who is lost. */
export function isOutputDetermined(app: AppPlan): boolean {
  return !['fork', 'agree', 'talk'].includes(app.program);
}
