/**
 * Fault `network`: packets from and to a host are dropped by its kernel, those of the programs on it as those of the
 * session. The root agent lets nft do it, which needs the right to.
 */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultModule, FaultOrder, ParamSpecs } from '@stci/interface';
import { NetworkMachine } from './network-machine.js';
import { injectText, removeText } from './network-rules.js';
import { atRoot, type VictimOf } from './victims.js';

const LIST_MAX = 64;
const PORT_MAX = 65_535;
const PERCENT_MAX = 99;
const MARK_BELOW = 2 ** 48;

const ARGS: ParamSpecs = {
  mode: {
    type: 'enum', default: 'part', values: ['part', 'loss', 'rate', 'delay'],
    help: 'part: nothing passes, as through a cut cable. loss: of the packets that arrive at the host a share is lost. '
      + 'rate: of those that arrive, what is beyond a rate is lost. delay: refused.',
  },
  direction: {
    type: 'enum', default: 'both', values: ['both', 'in', 'out'],
    help: 'Of mode part: in is what arrives at the host, out what it sends.',
  },
  loss: {
    type: 'int', default: 10, min: 1, max: PERCENT_MAX,
    help: 'Of mode loss: as many of 100 packets, at random; all: mode part.',
  },
  rate: {
    type: 'size', default: 65_536, min: 1,
    help: 'Of mode rate: as many bytes a second pass, and 128 KiB and one second\'s bytes besides, once.',
  },
  peers: {
    type: 'list', default: [],
    help: 'Addresses and networks, as 10.0.0.7, 10.1.0.0/16, fd00::/8: packets of these alone. Empty: of all.',
  },
  spare: {
    type: 'list', default: [],
    help: 'TCP ports and ranges of them, as 22, 40000-40100: packets from or to these, at either end, pass.',
  },
};

/** Arguments that mean nothing in other modes. */
const MODE_OF = { direction: 'part', loss: 'loss', rate: 'rate' } as const;

const ADDRESS = /^([\d.]+|[\da-f:.]*:[\da-f:.]*)(?:\/(\d{1,3}))?$/iu;
const PORTS = /^(\d{1,5})(?:-(\d{1,5}))?$/u;

/** nft would look a name up that is no address. */
function isAddress(text: string): boolean {
  const [, address = '', bits = '0'] = ADDRESS.exec(text) ?? [];
  if (!address.includes(':')) {
    const parts = address.split('.');
    const isWhole = parts.length === 4 && parts.every((part) => /^\d{1,3}$/u.test(part) && Number(part) < 256);
    return isWhole && Number(bits) <= 32;
  }
  const sides = address.split('::').map((side) => (side === '' ? [] : side.split(':')));
  const groups = sides.flat();
  const isWhole = sides.length === 1 ? groups.length === 8 : sides.length === 2 && groups.length < 8;
  return isWhole && groups.every((group) => /^[\da-f]{1,4}$/iu.test(group)) && Number(bits) <= 128;
}

function isPorts(text: string): boolean {
  const [, first, last = first] = PORTS.exec(text) ?? [];
  return Number(first) > 0 && Number(first) <= Number(last) && Number(last) <= PORT_MAX;
}

function problemOf({ args, durationMs }: Pick<FaultOrder, 'args' | 'durationMs'>): string | undefined {
  const { mode } = args;
  if (durationMs === 0) return 'a fault of no time is none: give a duration of at least 1 ms';
  if (mode === 'delay') {
    return 'mode delay is refused: a delay that the kernel makes (netem) has no end of its own, and would stay where '
      + 'all agents are killed. Modes part, loss and rate end by themselves; kind link delays the session\'s own links';
  }
  for (const [name, of] of Object.entries(MODE_OF)) {
    if (mode === of || args[name] === ARGS[name]?.default) continue;
    return `argument ${name} is of mode ${of}, and the mode is ${mode}: add mode ${of}, or leave it out`;
  }
  return listProblem('peers', args, isAddress, 'an address or network, as 10.0.0.7 or fd00::/8')
    ?? listProblem('spare', args, isPorts, 'a port or a range of ports, as 22 or 40000-40100');
}

function listProblem(
  name: string, args: FaultOrder['args'], isRight: (text: string) => boolean, expected: string,
): string | undefined {
  const list = args[name] as readonly string[];
  if (list.length > LIST_MAX) return `argument ${name} has ${list.length} elements, and may have ${LIST_MAX}`;
  const wrong = list.find((text) => !isRight(text));
  return wrong === undefined ? undefined : `argument ${name}: '${wrong}' is not ${expected}`;
}

/** What is done, to programs' own connections, too: faults of links leave these alone. */
function textOf({ mode, direction, loss, rate, peers }: FaultOrder['args'], host: number): string {
  const others = (peers as readonly string[]).join(', ') || 'anywhere else';
  const arriving = `that arrive at host ${host} from ${others}, for programs too`;
  if (mode === 'loss') return `${loss} of 100 packets are lost ${arriving}`;
  if (mode === 'rate') return `all but ${rate} bytes/s are lost ${arriving}`;
  const words = { both: ['between', 'and'], in: ['to', 'from'], out: ['from', 'to'] };
  const [way, to] = words[direction as keyof typeof words];
  return `nothing passes ${way} host ${host} ${to} ${others}, of programs neither`;
}

const module: FaultModule = {
  victims: ['host'],
  undoes: true,
  args: ARGS,
  problemOf,
  plan: ({ victim }, place) => {
    const parts = atRoot((victim as VictimOf<'host'>).host, place);
    if (typeof parts === 'string') return parts;
    return parts.map(({ at }) => ({ at, body: { apartFrom: place.network ?? '' } }));
  },
  open: ({ order: { args, victim, durationMs = 0 }, body, random }) => {
    const mark = Math.floor(random() * MARK_BELOW).toString(16);
    return new NetworkMachine({
      inject: (index) => injectText(index, mark, args, durationMs),
      remove: (index) => removeText(index, mark),
      text: textOf(args, (victim as VictimOf<'host'>).host),
      apartFrom: (body as { readonly apartFrom: string }).apartFrom,
    });
  },
};

export const faultNetwork = defineComponent({
  framework: faultFramework,
  name: 'network',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The network of a host, of the programs there as of the session: cut off, or lossy, or slow. Its root agent '
    + 'needs the right to use nft there, and the host a network apart from the machine of the controller. It ends on '
    + 'time in the kernel, whatever dies.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
