/**
 * Test hosts: N hosts on this machine, each with its own address, process tree and OpenSSH server, reached by name from
 * a login side. For tests of launchers and failures, for benchmarks and for experiments; manual: docs/test-hosts.md.
 * Only loaded by importers of `@stci/testkit/hosts`.
 */

export { attach, listSets, up } from './make.js';
export type { UpOptions } from './make.js';
export type { Hosts } from './hosts.js';
export type { Argv, RunOptions, RunResult } from './exec.js';
export { HOSTS_MAX, HostsError, LOGIN, RUNTIME_DIRECTORY } from './names.js';
export type { Process } from './procs.js';
export type { SetState } from './state.js';
export { TRAITS } from './traits.js';
export type { TraitName } from './traits.js';
export { whyNoHosts, whyNoSlurm } from './machine.js';
export type { Slurm } from './slurm.js';
export type { SlurmOptions } from './slurm-options.js';
export { main } from './cli.js';
