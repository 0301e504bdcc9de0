/**
 * Fault `link`: the links between two agents are closed, silent, late or slow. One end carries it out, the one nearer
 * to the controller, so that it can be told to undo it.
 */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultModule, FaultOrder, FaultPlace, Impairment, ParamSpecs, Position } from '@stci/interface';
import { LinkMachine, agentName, isThere, siteAt, type LinkBody } from './link-machine.js';

const DAY_MS = 86_400_000;

const ARGS: ParamSpecs = {
  mode: {
    type: 'enum', default: 'silent', values: ['close', 'silent', 'delay', 'throttle'],
    help: 'silent: nothing passes, as through a cut cable; what is sent meanwhile arrives when it is over. '
      + 'delay, throttle: all passes, late or slowly. close: the connections end, once, and the tree mends; the '
      + 'duration then says only when that counts as over.',
  },
  direction: {
    type: 'enum', default: 'both', values: ['both', 'in', 'out'],
    help: 'As the first of the two agents sees it: out is what it sends to the second, in what it receives from it.',
  },
  delay: {
    type: 'duration', default: 100, min: 0, max: DAY_MS,
    help: 'Of mode delay: everything arrives so much later, in order.',
  },
  jitter: {
    type: 'duration', default: 0, min: 0, max: DAY_MS,
    help: 'Of mode delay: besides, a random time up to this, uniform.',
  },
  rate: {
    type: 'size', default: 65_536, min: 1,
    help: 'Of mode throttle: as many bytes a second pass in each direction. With few, heartbeats wait behind output.',
  },
};

const FLIPPED = { both: 'both', in: 'out', out: 'in' } as const;

type Args = FaultOrder['args'];

/** As the agent sees it that carries it out. */
function impairmentOf({ mode, direction: named, delay, jitter, rate }: Args, isFirst: boolean): Impairment | 'close' {
  const direction = isFirst ? (named as Impairment['direction']) : FLIPPED[named as Impairment['direction']];
  switch (mode) {
    case 'close': return 'close';
    case 'delay': return { direction, delayMs: Number(delay), jitterMs: Number(jitter) };
    case 'throttle': return { direction, bytesPerSecond: Number(rate) };
    default: return { direction, isSilent: true };
  }
}

/** As the first agent sees it. */
function textOf(args: Args, first: Position, second: Position): string {
  const how = impairmentOf(args, true);
  const between = `between ${agentName(first)} and ${agentName(second)}`;
  if (how === 'close') return `links ${between} are closed`;
  const [from, to] = how.direction === 'in' ? [second, first] : [first, second];
  const way = how.direction === 'both' ? between : `from ${agentName(from)} to ${agentName(to)}`;
  if (how.isSilent === true) return `nothing passes ${way}`;
  if (how.bytesPerSecond !== undefined) return `at most ${how.bytesPerSecond} bytes/s pass ${way}`;
  const { delayMs = 0, jitterMs = 0 } = how;
  return `everything passes ${jitterMs > 0 ? `${delayMs} to ${delayMs + jitterMs}` : delayMs} ms later ${way}`;
}

/** Modes of arguments that mean nothing in others. */
const MODE_OF = { delay: 'delay', jitter: 'delay', rate: 'throttle' } as const;

function problemOf({ victim, args }: Pick<FaultOrder, 'victim' | 'args'>): string | undefined {
  const [first, second] = victim.kind === 'link' ? victim.ends : [];
  if (first === second) return `a link is between two agents: expected two different ones, got ${first} twice`;
  for (const [name, mode] of Object.entries(MODE_OF)) {
    if (args['mode'] === mode || args[name] === ARGS[name]?.default) continue;
    return `argument ${name} is of mode ${mode}, and the mode is ${args['mode']}: add mode ${mode}, or leave it out`;
  }
  return undefined;
}

function plan({ victim, args }: FaultOrder, place: FaultPlace) {
  if (victim.kind !== 'link') return `expected a link, got a ${victim.kind}`;
  const [first, second] = victim.ends;
  const [near, far] = place.depth(first) <= place.depth(second) ? [first, second] : [second, first];
  const at = [near, far].find((end) => isThere(end, place));
  if (at === undefined) return `neither ${agentName(first)} nor ${agentName(second)} is connected`;
  const other = at === first ? second : first;
  const body: LinkBody = {
    peers: [[other, other]], how: impairmentOf(args, at === first), text: textOf(args, first, second), afterMs: 0,
  };
  return [{ at: siteAt(at), body }];
}

const module: FaultModule = {
  victims: ['link'],
  undoes: true,
  args: ARGS,
  problemOf,
  plan,
  open: ({ body }) => new LinkMachine(body as LinkBody),
};

export const faultLink = defineComponent({
  framework: faultFramework,
  name: 'link',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'All links between two agents, those included that are opened meanwhile: closed, silent, late or slow. What '
    + 'programs open for themselves is left alone.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
