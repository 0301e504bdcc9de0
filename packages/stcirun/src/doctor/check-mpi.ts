/** The MPI library of a program on each host: what it is, whether it is there, and whether all hosts have the same. */

import { foldHostlist } from '@stci/core';
import type { LinkedMpi } from '../files/linked-mpi.js';
import { bad, good, warn, type Check } from './check.js';
import { hostReport, type HostReport } from './check-host.js';

/** What does not work with a library, whoever starts it (docs/mpi.md). `hosts`: from so many on. */
interface KnownBad {
  readonly family: string;
  readonly version: string;
  readonly hosts: number;
  readonly text: string;
}

export const KNOWN_BAD: readonly KnownBad[] = [
  {
    family: 'MPICH', version: '4.0.2', hosts: 2,
    text: 'hangs in MPI_Finalize on several hosts, whoever starts it: use one host, or MPICH 4.2 or later',
  },
  { family: 'MPICH', version: '4.0.2', hosts: 1, text: 'gives wrong values for MPI_Put, whoever starts it' },
  {
    family: 'Open MPI', version: '4.1.4', hosts: 2,
    text: 'gives MPI_ERR_WIN for windows on several hosts, whoever starts it: use Open MPI 5 for these',
  },
];

/** The reports with a check `mpi` of the hosts that have answered. */
export function checkMpi(reports: readonly HostReport[], program: string): readonly HostReport[] {
  const answered = reports.flatMap(({ host, linked }) => (linked === undefined ? [] : [{ host, linked }]));
  const common = commonest(answered);
  return reports.map(({ host, ms, checks, linked }) => {
    if (linked === undefined) return hostReport(host, ms, checks);
    const check = ownCheck(linked, program) ?? differs(linked, common) ?? knownBad(linked, answered.length)
      ?? good(nameOf(linked));
    return hostReport(host, ms, { ...checks, mpi: check }, linked);
  });
}

/** `MPICH 4.2.1`; of an unknown one the library's name. */
function nameOf({ library, family, version }: LinkedMpi): string {
  if (library === undefined) return 'no MPI';
  return family === 'unknown' ? `unknown (${library})` : `${family} ${version ?? '?'}`;
}

/** What is wrong with it whatever other hosts have. */
function ownCheck(
  { kind, interpreter, library, libraryFile, missing, via }: LinkedMpi, program: string,
): Check | undefined {
  if (kind === 'none') return bad('FAIL', `${program} is not there, or cannot be read`);
  if (kind === 'script') {
    const text = `${program} is a script of ${interpreter ?? '?'}: name the program that it runs`;
    return { state: 'none', text: 'script', problem: text };
  }
  if (kind === 'other') {
    return { state: 'none', text: 'not ELF', problem: `${program} is neither a script nor a 64-bit program (ELF)` };
  }
  const whose = 'Install it there, or name its directory in LD_LIBRARY_PATH, which programs get';
  if (library !== undefined && libraryFile === undefined) {
    return bad('FAIL', `${library}, which ${via ?? program} needs, is not found. ${whose}`);
  }
  if (missing.length === 0) return undefined;
  return warn('?', `${missing.join(', ')}, which ${program} or its libraries need, not found. ${whose}`);
}

interface Answer {
  readonly host: string;
  readonly linked: LinkedMpi;
}

interface Common {
  readonly linked: LinkedMpi;
  readonly hosts: readonly string[];
}

/** The library that most hosts have; the first host's of as many. */
function commonest(answered: readonly Answer[]): Common | undefined {
  const byName = new Map<string, { linked: LinkedMpi; hosts: string[] }>();
  for (const { host, linked } of answered) {
    if (linked.kind !== 'elf' || (linked.library !== undefined && linked.libraryFile === undefined)) continue;
    const one = byName.get(nameOf(linked)) ?? { linked, hosts: [] };
    one.hosts.push(host);
    byName.set(nameOf(linked), one);
  }
  return [...byName.values()].reduce<Common | undefined>((most, one) =>
    (most === undefined || one.hosts.length > most.hosts.length ? one : most), undefined);
}

function differs(linked: LinkedMpi, common: Common | undefined): Check | undefined {
  const name = nameOf(linked);
  if (common === undefined || name === nameOf(common.linked)) return undefined;
  const others = `${nameOf(common.linked)} on ${foldHostlist(common.hosts)}`;
  if (linked.family !== common.linked.family) {
    return bad(name, `${name}, and ${others}: ranks of different libraries do not meet. Install the same`);
  }
  if (linked.version === undefined || common.linked.version === undefined) return undefined;
  return warn(name, `${name}, and ${others}: ranks of different versions may not meet. Install the same`);
}

function knownBad(linked: LinkedMpi, hosts: number): Check | undefined {
  const texts = KNOWN_BAD.filter((one) => {
    return one.family === linked.family && one.version === linked.version && one.hosts <= hosts;
  }).map(({ text }) => text);
  const name = nameOf(linked);
  return texts.length === 0 ? undefined : warn(name, texts.map((text) => `${name} ${text}`).join('\n  '));
}
