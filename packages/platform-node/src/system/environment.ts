/**
 * Facts of this process: its user, host, variables. Agents are started without the variables that slow Node's start or
 * only concern the process that starts them (NODE_EXTRA_CA_CERTS costs 28 ms); but a tool may be a Node program whose
 * user set them. So they are renamed for the start (`setAside`) and restored when the agent reads its variables.
 */

import type { CpuTimes, Environment } from '@stci/interface';
import { builtin } from './builtin.js';

type Variables = Readonly<Record<string, string>>;

const SET_ASIDE = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'NODE_V8_COVERAGE', 'NODE_COMPILE_CACHE', 'NODE_DEBUG'];
const PREFIX = 'STCI_SET_ASIDE_';
const NS_PER_MS = 1e6;

/** The environment for an agent: `variables` with the named ones hidden from Node. */
export function setAside(variables: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const result = { ...variables };
  for (const name of SET_ASIDE) {
    const value = result[name];
    if (value === undefined) continue;
    result[PREFIX + name] = value;
    delete result[name];
  }
  return result;
}

/** Reverses `setAside`: the environment for the user's programs. */
export function putBack(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(variables).flatMap(([name, value]): [string, string][] => {
    return value === undefined ? [] : [[name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name, value]];
  });
  // Not by assignment: a variable may be named `__proto__`.
  return Object.fromEntries(entries);
}

function userName(): string {
  try {
    return builtin('node:os').userInfo().username;
  } catch {
    // A user id without an entry in the user database, as in many containers.
    return process.env['USER'] ?? String(process.getuid?.() ?? 'unknown');
  }
}

/** Place to be used instead of what this process has. */
export interface GivenPlace {
  readonly variables?: Variables | undefined;
  readonly wdir?: string | undefined;
}

class NodeEnvironment implements Environment {
  readonly pid = process.pid;
  readonly #given: GivenPlace;
  #variables: Variables | undefined;
  #hostname: string | undefined;
  #user: string | undefined;

  constructor(given: GivenPlace) {
    this.#given = given;
  }

  get hostname(): string {
    return (this.#hostname ??= builtin('node:os').hostname());
  }

  get user(): string {
    return (this.#user ??= userName());
  }

  get wdir(): string {
    return this.#given.wdir ?? process.cwd();
  }

  get variables(): Variables {
    return (this.#variables ??= Object.freeze(putBack(this.#given.variables ?? process.env)));
  }

  get cpuCount(): number {
    return Math.max(1, builtin('node:os').availableParallelism());
  }

  /** Namespaces have numbers of the running kernel. */
  get network(): string | undefined {
    const { readFileSync, readlinkSync } = builtin('node:fs');
    try {
      const kernel = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
      return `${kernel} ${readlinkSync('/proc/self/ns/net')}`;
    } catch {
      return undefined;
    }
  }

  systemText(path: string): string | undefined {
    try {
      return builtin('node:fs').readFileSync(path, 'latin1');
    } catch {
      return undefined;
    }
  }

  cpuTimes(): CpuTimes | undefined {
    try {
      const text = builtin('node:fs').readFileSync('/proc/thread-self/schedstat', 'latin1');
      const [ran = 0, waited = 0] = text.split(' ').map(Number);
      return { ranMs: ran / NS_PER_MS, waitedMs: waited / NS_PER_MS };
    } catch {
      return undefined; // A kernel without scheduler statistics, or a system without /proc.
    }
  }
}

export function createEnvironment(given: GivenPlace = {}): Environment {
  return new NodeEnvironment(given);
}
