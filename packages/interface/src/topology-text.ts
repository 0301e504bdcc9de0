/**
 * A topology in text form, as options and parameters name it: `bmg`, `tree:arity=4`, `mesh:dimensions=4x3,wrap=true`.
 * Values are whole numbers, true, false, lists of numbers with `x` between, else text; the component judges them.
 */

import { StciError } from './errors.js';

export interface TopologySpec {
  readonly kind: string;
  readonly options: Readonly<Record<string, unknown>>;
}

const NAME = /^[a-z][a-z0-9]*$/;
const INTEGER = /^-?\d{1,15}$/;
const SIZES = /^\d{1,9}(x\d{1,9})+$/;

/** Throws STCI_TOPOLOGY_INVALID. */
export function parseTopology(text: string): TopologySpec {
  const [kind = '', ...rest] = text.split(':');
  const pairs = rest.join(':');
  if (!NAME.test(kind)) throw specError(text, 'the name of a topology first');
  if (rest.length > 0 && pairs === '') throw specError(text, 'an option behind the colon, such as arity=4');
  const options: Record<string, unknown> = {};
  for (const pair of pairs === '' ? [] : pairs.split(',')) {
    const [, name, value] = /^([a-z][a-z0-9]*)=(.+)$/.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw specError(text, `NAME=VALUE instead of '${pair}'`);
    if (name in options) throw specError(text, `option ${name} once`);
    options[name] = valueOf(value);
  }
  return { kind, options };
}

function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (INTEGER.test(text)) return Number(text);
  return SIZES.test(text) ? text.split('x').map(Number) : text;
}

function specError(text: string, expected: string): StciError {
  const message = `topology ${JSON.stringify(text)}: expected ${expected}. `
    + 'It is written NAME or NAME:OPTION=VALUE,…, such as bmg, tree:arity=4 or mesh:wrap=true.';
  return new StciError('STCI_TOPOLOGY_INVALID', message);
}
