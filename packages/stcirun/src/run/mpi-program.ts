/**
 * Programs linked with MPI whose library has not spoken with its agent: none of the protocols was offered, or it knows
 * none of them. So each rank is a job of one, which a warning states, and the job's exit code. The program's file on
 * this machine is read once all ranks run, so that no start waits for it.
 */

import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RunRemarks } from '@stci/core/run';
import { StciError, type JobMap, type JobSpec, type Params } from '@stci/interface';

/** Sonames of Open MPI, MPICH and what is built from it; not those of other libraries, such as libmpir. */
const MPI_LIBRARY = /^libmpi(?:ch|cxx|chcxx|fort|chfort|_[a-z0-9_]+)?\.so/u;

/** Bounds on what is read of a file: enough for any program, nothing for a hostile one. */
const HEADERS_MAX = 256;
const TABLE_BYTES_MAX = 1 << 20;

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const DT_NEEDED = 1n;
const DT_STRTAB = 5n;

/** A remark on each program of several ranks that is linked with MPI, and the failure of the job. */
export function mpiRemarks({ spec, map, params }: {
  readonly spec: Pick<JobSpec, 'apps' | 'env' | 'wdir'>; readonly map: JobMap; readonly params: Params;
}): RunRemarks {
  const { apps, env, wdir } = spec;
  const counts = new Array<number>(apps.length).fill(0);
  for (const { runs } of map.hosts) for (const { app, count } of runs) counts[app] = (counts[app] ?? 0) + count;
  const found = apps.filter(({ program, wdir: own }, i) => {
    return (counts[i] ?? 0) > 1 && isMpiProgram(program, env['PATH'] ?? '', own ?? wdir);
  });
  const programs = [...new Set(found.map(({ program }) => program))];
  const texts = programs.map((program) =>
    `${program} is linked with MPI, and no rank has asked for the others: each was an MPI job of size 1`);
  if (programs.length === 0 || params.string('mpi.singletons') === 'warn') return { texts };
  const text = `${programs.join(', ')}: all ranks ended with 0, each as an MPI job of size 1. Its library has to `
    + 'speak PMI-1 or PMIx, and --mpi must not leave that out. Else start it by the mpiexec of its MPI; if each rank '
    + 'is to be alone: --mca mpi.singletons=warn';
  return { texts, failure: new StciError('STCI_MPI_SINGLETONS', text) };
}

function isMpiProgram(program: string, path: string, wdir: string): boolean {
  const candidates = program.includes('/') ? [program] : path.split(':').map((directory) => `${directory}/${program}`);
  const file = candidates.map((name) => resolve(wdir, name)).find(isFile);
  return file !== undefined && neededLibraries(file).some((name) => MPI_LIBRARY.test(name));
}

/** False also where a directory of PATH may not be searched. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Names of the libraries that a 64-bit ELF program is linked with; none for other files. */
export function neededLibraries(path: string): readonly string[] {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return readNeeded(fd);
  } catch {
    return [];
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly bytes: number;
}

function readNeeded(fd: number): readonly string[] {
  const head = readAt(fd, 0, 64);
  const isElf64 = head.readUInt32BE(0) === 0x7f454c46 && head[4] === 2 && head[5] === 1;
  if (!isElf64) return [];
  const segments = readSegments(fd, Number(head.readBigUInt64LE(32)), Math.min(head.readUInt16LE(56), HEADERS_MAX));
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return [];
  const table = readAt(fd, dynamic.offset, Math.min(dynamic.bytes, TABLE_BYTES_MAX));
  const names: number[] = [];
  let strings = 0;
  for (let at = 0; at + 16 <= table.length; at += 16) {
    const tag = table.readBigInt64LE(at);
    const value = Number(table.readBigUInt64LE(at + 8));
    if (tag === DT_NEEDED) names.push(value);
    if (tag === DT_STRTAB) strings = value;
  }
  const home = segments.find((segment) => {
    return segment.type === PT_LOAD && strings >= segment.address && strings < segment.address + segment.bytes;
  });
  if (home === undefined) return [];
  const base = home.offset + strings - home.address;
  return names.map((name) => readAt(fd, base + name, 256).toString('latin1').split('\0', 1)[0] as string);
}

function readSegments(fd: number, offset: number, count: number): Segment[] {
  const bytes = readAt(fd, offset, count * 56);
  return Array.from({ length: Math.floor(bytes.length / 56) }, (_, i) => ({
    type: bytes.readUInt32LE(i * 56),
    offset: Number(bytes.readBigUInt64LE(i * 56 + 8)),
    address: Number(bytes.readBigUInt64LE(i * 56 + 16)),
    bytes: Number(bytes.readBigUInt64LE(i * 56 + 32)),
  }));
}

function readAt(fd: number, at: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(fd, buffer, 0, bytes, at));
}
