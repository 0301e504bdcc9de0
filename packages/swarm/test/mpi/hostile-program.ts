/**
 * Program `hostile`: PROTOCOL SEED COUNT: sends COUNT mutants of recorded dialogues to the agent of its host, over a
 * connection each (of PMI-1 over the inherited one), closes each, and ends with 0 once all have. What need not wait for
 * other ranks is to be answered, unless the connection is closed.
 */

import { entryOf, type Channel } from '@stci/interface';
import type { Tool, ToolProgram } from '@stci/platform-sim';
import { PmixClientEnd, PmixServerEnd, TAG, fromByteText, toByteText, type PmixRequest } from '@stci/pmi';
import { seeded, type Seeded } from '@stci/testkit';
import { pmi1Mutants, pmixMutants } from './mutants.js';

/** In which what does not wait for others is answered: some round trips to the controller. */
const ANSWER_MS = 20;
/** Connections at a time. */
const LANES = 3;
/** Requests that wait for others. */
const WAITING = ['fence', 'connect', 'disconnect', 'groupConstruct', 'groupDestruct', 'get', 'lookup'];

export interface HostileLog {
  mutants: number;
  answers: number;
  closed: number;
  readonly problems: string[];
  /** A rank has closed all of its connections; whether all have. Who is gone ends the world of others. */
  isQuiet(rank: number): boolean;
}

export function hostileProgram(log: HostileLog): ToolProgram {
  const makers = { pmi1: pmi1Mutants(), pmix: pmixMutants() };
  return (tool) => {
    const [protocol = 'pmix', seed = '1', count = '1'] = tool.args;
    const who = { nspace: tool.env['PMIX_NAMESPACE'] ?? '', rank: Number(tool.env['PMIX_RANK']) };
    const isPmix = protocol === 'pmix';
    const make = isPmix ? makers.pmix : makers.pmi1;
    tool.onSignal('SIGUSR1', 'ignore');
    let [next, open] = [0, 0];
    const leave = (): void => {
      if (log.isQuiet(who.rank)) tool.exit(0);
      else tool.after(ANSWER_MS, leave);
    };
    const take = (): void => {
      const last = isPmix ? Number(count) : 1;
      if (next === last) {
        if (open === 0) tool.after(ANSWER_MS, leave);
        return;
      }
      const number = Number(seed) + next++;
      open += 1;
      const draw = seeded(number * 1009 + who.rank);
      log.mutants += 1;
      send(tool, make(who, draw), draw, isPmix, (closed, answers, missing) => {
        open -= 1;
        log.closed += closed ? 1 : 0;
        log.answers += answers;
        if (!closed && missing.length > 0) {
          log.problems.push(`rank ${who.rank}, mutant ${number}: no answer to ${missing.join(', ')}`);
        }
        take();
      });
    };
    for (let lane = 0; lane < (isPmix ? LANES : 1); lane++) if (next < Number(count)) take();
  };
}

type Done = (isClosed: boolean, answers: number, missing: readonly string[]) => void;

/** Whole, in halves, or in lines; the connection is closed once what is to be answered should have been. */
function send(tool: Tool, bytes: Uint8Array, draw: Seeded, isPmix: boolean, done: Done): void {
  const channel = isPmix ? tool.connectLoopback(portOf(tool)) : tool.socket as Channel;
  const client = new PmixClientEnd();
  const tags: number[] = [];
  let [isClosed, answers] = [false, 0];
  channel.bind({
    onData: (chunk) => {
      if (!isPmix) return void (answers += 1);
      client.append(chunk);
      for (let frame = client.next(); frame !== undefined; frame = client.next()) {
        answers += 1;
        if (frame.tag !== TAG.event) tags.push(frame.tag);
      }
    },
    onDrain: () => undefined,
    onClose: () => (isClosed = true),
  });
  const pieces = !isPmix && draw.below(2) === 0 ? linesOf(bytes) : halvesOf(bytes, draw);
  const pauseMs = draw.below(2);
  const put = (at: number): void => {
    const piece = pieces[at];
    if (piece !== undefined && !isClosed) {
      channel.send([piece]);
      return tool.after(pauseMs, () => put(at + 1));
    }
    return tool.after(ANSWER_MS, () => {
      channel.close();
      done(isClosed, answers, isPmix && !isClosed ? missingOf(client, bytes, tags) : []);
    });
  };
  put(0);
}

function halvesOf(bytes: Uint8Array, draw: Seeded): Uint8Array[] {
  const cut = draw.below(3) === 0 ? draw.below(bytes.length + 1) : bytes.length;
  return [bytes.slice(0, cut), bytes.slice(cut)].filter(({ length }) => length > 0);
}

/** A client of PMI-1 that sends a line before the last is answered is refused. */
function linesOf(bytes: Uint8Array): Uint8Array[] {
  return (toByteText(bytes).match(/[^\n]*\n|[^\n]+$/gu) ?? []).map(fromByteText);
}

function portOf(tool: Tool): number {
  return Number(/:(\d+)$/u.exec(tool.env['PMIX_SERVER_URI41'] ?? '')?.[1]);
}

/** Requests that should have been answered, by their tags: one may be that of several. */
function missingOf({ welcome }: PmixClientEnd, bytes: Uint8Array, tags: readonly number[]): string[] {
  const missing: string[] = [];
  const asked = new Map<number, { prompt: string[]; all: number }>();
  const server = new PmixServerEnd();
  server.append(bytes);
  try {
    for (let arrival = server.next(); arrival !== undefined; arrival = server.next()) {
      if (arrival.kind === 'hello') {
        if (welcome === undefined) missing.push('hello');
        continue;
      }
      const of = entryOf(asked, arrival.tag, () => ({ prompt: [], all: 0 }));
      of.all += 1;
      if (arrival.kind === 'refused') of.prompt.push('a refused request');
      else if (isPrompt(arrival.request)) of.prompt.push(arrival.request.command);
    }
  } catch {
    missing.push('what ends a connection');
  }
  for (const [tag, { prompt, all }] of asked) {
    const answers = tags.filter((each) => each === tag).length;
    // An answer with tag 0 looks like an event.
    const isRight = answers >= prompt.length && answers <= all;
    if (tag !== TAG.event && !isRight) missing.push(`${answers} to ${prompt} with ${tag}`);
  }
  return missing;
}

function isPrompt({ command }: PmixRequest): boolean {
  return command !== 'deregisterEvents' && !WAITING.includes(command);
}
