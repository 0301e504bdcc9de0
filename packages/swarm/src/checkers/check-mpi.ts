/**
 * MPI programs, judged by what each did and saw: no fence is left before all have come that live, each key is what its
 * owner put, each lost rank is told once, and who ends without finalize has failed.
 */

import { entryOf } from '@stci/interface';
import type { SimProcess } from '@stci/platform-sim';
import { ABORT_CODE, mpiPlan } from '../mpi/mpi-program.js';
import { factsOf, valueOf, type TimedFact } from '../mpi/mpi-facts.js';
import { hitsRanks } from '../scenarios/scenario.js';
import { plannedApps } from '../scenarios/spawner.js';
import type { Run } from '../worlds/run.js';
import { truthOf, type RankTruth } from './truth.js';

/** Policies by which a job goes on without ranks that are lost. */
const TOLERANT: readonly (string | undefined)[] = ['notify', 'continue'];

/** From the end of a process to the news of it, at most: links are of 25 ms, and trees a chain at worst. */
const NEWS_MS = 1500;

interface Member {
  readonly rank: number;
  readonly facts: readonly TimedFact[];
  /** It said that it ends, and ended with 0. */
  readonly isWell: boolean;
  readonly process: SimProcess | undefined;
}

type Members = ReadonlyMap<number, Member>;

export function isMpi(program: string): boolean {
  return program === 'pmi1' || program === 'pmix';
}

export function checkMpi(run: Run): string[] {
  if (!run.options.apps.some(({ program }) => isMpi(program))) return [];
  const truths = truthOf(run);
  const programs = truths.filter(({ app }) => isMpi(app.program));
  const members = new Map(programs.map(({ rank, process }): [number, Member] => {
    const facts = factsOf(process);
    const isWell = process?.end?.status === 0 && facts.some(({ kind }) => kind === 'finalized');
    return [rank, { rank, facts, isWell, process }];
  }));
  const all = [...members.values()];
  // Those that were spawned are a set of their own.
  const launched = run.options.apps.reduce((sum, { count }) => sum + count, 0);
  const isTolerant = TOLERANT.includes(run.options.settings['errmgr']);
  return [
    ...all.flatMap((member) => ownProblems(member, members, launched, run.frontEnd.end?.signal !== undefined)),
    ...fenceProblems(all, members, isTolerant),
    ...all.flatMap((member) => unnamedProblems(member, run, members, isTolerant)),
    ...all.flatMap((member) => lossProblems(member, run, truths, isTolerant)),
    ...endProblems(run, all, programs[0]?.app.args ?? []),
  ];
}

/**
 * Keys and names are what their owners put; the library has no other trouble than the end of its agent, or, if that
 * was killed, of the controller that has the names.
 */
function ownProblems({ rank, facts }: Member, members: Members, size: number, hasNoNames: boolean): string[] {
  return facts.flatMap((fact): string[] => {
    if (fact.kind === 'init' && fact.size !== size) return [`rank ${rank}: a job of ${fact.size}`];
    if (fact.kind === 'got' || fact.kind === 'found') {
      const owner = members.get(fact.of);
      const isRight = fact.value === valueOf(fact.kind, fact.of);
      const isExcused = fact.value === undefined && (owner?.isWell !== true || (hasNoNames && fact.kind === 'found'));
      return isRight || isExcused ? [] : [`rank ${rank} ${fact.kind} ${fact.value ?? 'nothing'} of ${fact.of}`];
    }
    if (fact.kind === 'published' && !fact.isWell && !hasNoNames) return [`rank ${rank}: its name was not taken`];
    return [];
  });
}

interface Fence {
  readonly members: readonly number[];
  readonly enteredMs: Map<number, number>;
  /** Of a group. */
  readonly contexts: Set<bigint>;
  /** The first of them. */
  left?: { readonly rank: number; readonly atMs: number };
}

/** Who leaves a fence knows that each member has come before, or has not ended well. */
function fenceProblems(all: readonly Member[], members: Members, isTolerant: boolean): string[] {
  const fences = new Map<string, Fence>();
  const problems: string[] = [];
  for (const { rank, facts } of all) {
    for (const fact of facts) {
      if (fact.kind === 'enter') {
        const fence = entryOf(fences, fact.name, (): Fence => ({
          members: fact.members, enteredMs: new Map(), contexts: new Set(),
        }));
        fence.enteredMs.set(rank, fact.atMs);
      }
      if (fact.kind !== 'left') continue;
      if (!fact.isWell) problems.push(`rank ${rank}: '${fact.name}' failed`);
      const fence = fences.get(fact.name) as Fence;
      if (fact.context !== undefined) fence.contexts.add(fact.context);
      if (fence.left === undefined || fact.atMs < fence.left.atMs) fence.left = { rank, atMs: fact.atMs };
    }
  }
  for (const [name, { members: named, enteredMs, left }] of fences) {
    if (left === undefined) continue;
    const absent = named.filter((rank) => {
      const isHere = (enteredMs.get(rank) ?? Infinity) <= left.atMs;
      return !isHere && (!isTolerant || members.get(rank)?.isWell === true);
    });
    if (absent.length > 0) problems.push(`rank ${left.rank} left '${name}' before ${absent} had come`);
  }
  const contexts = [...fences.values()].flatMap((fence) => [...fence.contexts]);
  const groups = [...fences.values()].filter((fence) => fence.contexts.size > 0);
  if (contexts.length > groups.length || new Set(contexts).size < contexts.length) {
    problems.push(`contexts of ${groups.length} groups: ${contexts}`);
  }
  return problems;
}

/**
 * Who goes on without a member has been told that it is lost; and of each whose process ended a while before, in a run
 * in which nothing holds news up.
 */
function unnamedProblems({ rank, facts, process }: Member, run: Run, members: Members, isTolerant: boolean): string[] {
  if (!isTolerant) return [];
  const told = new Set<number>();
  const isUndisturbed = run.faults.every(({ step }) => hitsRanks(step) && step.kind === 'kill');
  // A signal says it to a client of PMI-1, which may come after an answer.
  const isOrdered = process?.command[0]?.endsWith('pmix') === true;
  const problems: string[] = [];
  let named: readonly number[] = [];
  for (const fact of facts) {
    if (fact.kind === 'lost') told.add(fact.rank);
    if (fact.kind === 'enter') named = fact.members;
    if (fact.kind !== 'left') continue;
    const unnamed = named.filter((other) => {
      const { facts: theirs = [], process: its, isWell = false } = members.get(other) ?? {};
      if (told.has(other) || isWell) return false;
      const hasCome = theirs.some((each) => each.kind === 'enter' && each.name === fact.name && each.atMs <= fact.atMs);
      const isNews = isUndisturbed && (its?.endMs ?? Infinity) + NEWS_MS < fact.atMs;
      return (!hasCome && isOrdered) || isNews;
    });
    if (unnamed.length > 0) problems.push(`rank ${rank} left '${fact.name}', and was not told of ${unnamed}`);
  }
  return problems;
}

/** Losses are told where they are news, of ranks that are lost, each once. */
function lossProblems(
  { rank, facts }: Member, run: Run, truths: readonly RankTruth[], isTolerant: boolean,
): string[] {
  const told = facts.flatMap((fact) => (fact.kind === 'lost' ? [fact.rank] : []));
  const problems = new Set(told).size < told.length ? [`rank ${rank} was told twice: ${told}`] : [];
  if (told.length > 0 && !isTolerant) problems.push(`rank ${rank} was told of ${told}, where a loss ends the job`);
  const isHarmed = run.faults.some(({ step }) => !hitsRanks(step));
  const alive = isHarmed ? [] : told.filter((lost) => {
    const facts = factsOf(truths[lost]?.process);
    // One that ends inside of init may have begun.
    const { insideMs, step } = mpiPlan(truths[lost]?.app.args ?? []);
    const isBeginning = isMpi(truths[lost]?.app.program ?? '') && insideMs !== undefined && step === 0;
    const hasEnded = (facts.length === 0 && !isBeginning) || facts.some(({ kind }) => kind === 'finalized');
    return truths[lost]?.process?.end?.status === 0 && hasEnded;
  });
  return alive.length === 0 ? problems : [...problems, `rank ${rank} was told of ${alive}, which ended well`];
}

/** The job's exit code says so where a rank ends without finalize, or aborts. */
function endProblems(run: Run, members: readonly Member[], args: readonly string[]): string[] {
  const { record: { report }, faults, options } = run;
  if (report === undefined) return [];
  const problems = members.flatMap(({ rank, facts, process, isWell }): string[] => {
    const hasInit = facts.some(({ kind }) => kind === 'init');
    // Its agent may have heard it before the process ended.
    const finalizes = isWell || facts.some(({ kind }) => kind === 'finalizes');
    const hasFailed = hasInit && process?.end?.status === 0 && !finalizes;
    return hasFailed && report.exitCode === 0 ? [`rank ${rank} ended without finalize, exit code 0`] : [];
  });
  const isSplit = report.failures.some(({ code }) => code === 'STCI_MPI_WORLD');
  const isWhole = members.length === report.ranks.length && members.every(({ isWell }) => isWell);
  if (isSplit && isWhole) problems.push('STCI_MPI_WORLD, and every rank has finalized');
  if (isSplit && report.exitCode === 0) problems.push('exit code 0, with STCI_MPI_WORLD');
  const hasAborted = members.some(({ facts }) => facts.some(({ kind }) => kind === 'aborts'));
  const isUndisturbed = faults.length === 0 && options.controls.length === 0 && options.timeoutMs === undefined;
  // What is spawned may fail before.
  const isOnly = mpiPlan(args).end === 'abort' && options.apps.length === 1
    && plannedApps(options.settings).length === 0;
  if (hasAborted && report.exitCode === 0) problems.push('exit code 0, though a rank has aborted');
  if (hasAborted && isUndisturbed && isOnly && report.exitCode !== ABORT_CODE) {
    problems.push(`exit code ${report.exitCode}, a rank has aborted with ${ABORT_CODE}`);
  }
  // Who is told to end its job may end with it; in all other cases a library has no reason to give up.
  const faulty = members.filter(({ facts, process }) =>
    process?.end?.status === 1 && facts.some(({ kind }) => kind === 'fault'));
  const isExplained = mpiPlan(args).end === 'garbage' || faults.some(({ step }) => !hitsRanks(step));
  if (isExplained) return problems;
  return [...problems, ...faulty.map(({ rank, facts }) => {
    const found = facts.find(({ kind }) => kind === 'fault');
    return `rank ${rank} gave up: ${found?.kind === 'fault' ? found.text : ''}`;
  })];
}
