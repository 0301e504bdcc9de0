/**
 * What a job of one can check of a topology: how it is written, and the kinds and options that STCI brings. Those of
 * plugins, and any over more positions, are known to agents only.
 */

import { parseTopology } from '@stci/interface';

/** Values of the options over one position, by kinds. They are the components' (a test compares). */
const KINDS = new Map<string, Readonly<Record<string, (value: unknown) => boolean>>>([
  ['bmg', {}],
  ['mesh', {
    dimensions: (value) => value === 1 || value === 3
      || (Array.isArray(value) && value.length <= 3 && value.every((each) => each === 1)),
    wrap: (value) => typeof value === 'boolean',
  }],
  ['tree', { arity: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 1024 }],
]);

/** Why there is no such topology over so many positions, as far as can be known here; else undefined. */
export function faultAlone(spec: string, size: number): string | undefined {
  const agents = 'is known to agents only: start the program by stcirun --client';
  try {
    const { kind, options } = parseTopology(spec);
    const known = KINDS.get(kind);
    if (known === undefined) {
      return `topology ${kind} is none of ${[...KINDS.keys()].join(', ')}; one of a plugin ${agents}`;
    }
    for (const [name, value] of Object.entries(options)) {
      if (!Object.hasOwn(known, name)) {
        const names = Object.keys(known).join(', ');
        return `topology ${kind}: unknown option ${name}: expected ${names === '' ? 'none' : `one of ${names}`}`;
      }
      if (size === 1 && known[name]?.(value) !== true) {
        return `topology ${kind}: option ${name}: ${JSON.stringify(value)} is not allowed for one position`;
      }
    }
  } catch (fault) {
    return (fault as Error).message;
  }
  return size === 1 ? undefined : `topology '${spec}' of ${size} positions ${agents}`;
}
