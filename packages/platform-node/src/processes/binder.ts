/**
 * Binds a tool to processors: taskset, or numactl where its host has several NUMA nodes, executes the program in its
 * place. That costs one exec, and the program never runs elsewhere, as it would if it were bound after its start.
 */

import type { ErrorRecord, SpawnSpec } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { checkProgram, failure } from '../system/program.js';

/** Where they are besides the directories of PATH. */
const PATH_MORE = '/usr/bin:/bin:/usr/local/bin';

/** How long numactl may take to tell whether it is allowed here. */
const PROBE_MS = 2000;

/** Program and arguments that execute the rest; undefined: the tool is not bound. */
export type Binder = { readonly path: string; readonly args: readonly string[] } | undefined;

const paths = new Map<string, string | undefined>();

export function binderOf({ cpus, nodes }: SpawnSpec): { readonly binder: Binder } | { readonly error: ErrorRecord } {
  if (cpus === undefined) return { binder: undefined };
  const numactl = nodes === undefined ? undefined : found('numactl', canBind);
  // Without --localalloc a tool would have the policy of whoever started the agent.
  const local = [`--physcpubind=${cpus}`, '--localalloc', '--'];
  if (numactl !== undefined) return { binder: { path: numactl, args: local } };
  const taskset = found('taskset', () => true);
  if (taskset !== undefined) return { binder: { path: taskset, args: ['-c', cpus] } };
  const host = builtin('node:os').hostname();
  return failure('STCI_BINDING_IMPOSSIBLE', `${host}: ranks cannot be bound: there is no taskset on PATH, nor in `
    + `${PATH_MORE}. Install it (Debian and Fedora have it in util-linux), or write --bind-to none.`);
}

/** Looked for once: a host gets no other programs while its agents run. */
function found(program: string, isRight: (path: string) => boolean): string | undefined {
  if (!paths.has(program)) {
    const resolved = checkProgram({ program, env: { PATH: `${process.env['PATH'] ?? ''}:${PATH_MORE}` } });
    paths.set(program, 'path' in resolved && isRight(resolved.path) ? resolved.path : undefined);
  }
  return paths.get(program);
}

/** Containers may forbid the system call, and kernels may lack it. */
function canBind(path: string): boolean {
  const { status } = builtin('node:child_process').spawnSync(path, ['--localalloc', '--', 'true'], {
    stdio: 'ignore', timeout: PROBE_MS,
  });
  return status === 0;
}
