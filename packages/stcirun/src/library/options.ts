/**
 * What `launch` and `plan` are asked for. Each option of the command line is here, or absent with its reason
 * (option-table.ts).
 */

/** One program of a job. */
export interface ProgramOptions {
  /** A file, relative to the working directory, or a name that is looked up in PATH on the ranks' hosts. */
  readonly program: string;
  readonly args?: readonly string[] | undefined;
  /** Number of its ranks; default: one for each slot of its hosts. */
  readonly np?: number | undefined;
  /** Hosts and their slots, as `a:2,b` or `n[01-16]`; default: of host files, of the batch job, or this machine. */
  readonly hosts?: string | readonly string[] | undefined;
  /** Working directory; a relative one is relative to the job's. */
  readonly wdir?: string | undefined;
  /** Added to its environment. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** Bytes of standard input; text is UTF-8. */
export type InputChunk = string | Uint8Array;

/** What belongs to the job as a whole. */
export interface JobOptions {
  /** Files that name hosts, one a line. */
  readonly hostfile?: string | readonly string[] | undefined;
  /** Hosts to leave out, as a list. */
  readonly exclude?: string | readonly string[] | undefined;
  /** Hosts are asked of Slurm, and given back at the end; text: with these options of salloc. */
  readonly alloc?: boolean | string | readonly string[] | undefined;
  /** So many of the last hosts are kept for others that do not come up. */
  readonly spares?: number | undefined;
  /** The first of the hosts, so many, and spares besides. */
  readonly nodes?: number | undefined;
  /** Run without hosts that do not come up, if so many do. */
  readonly minHosts?: number | undefined;
  /** Ranks on each host. */
  readonly ppn?: number | undefined;
  /**
   * `slot`: fill a host, then the next (default); `node`: one per host in turn; `ppr:N`: N on each; the others: as
   * `slot`, and by these objects within each host.
   */
  readonly mapBy?: 'slot' | 'node' | `ppr:${number}` | 'socket' | 'numa' | 'l3cache' | undefined;
  /** Processors of each rank: docs/binding.md. */
  readonly bindTo?: 'none' | 'hwthread' | 'core' | 'l3cache' | 'numa' | 'socket' | undefined;
  /** Cores of each rank, or hardware threads. */
  readonly cpusPerRank?: number | undefined;
  /** Each rank says on its standard error what it is bound to. */
  readonly reportBindings?: boolean | undefined;
  /** More ranks than slots are allowed. */
  readonly oversubscribe?: boolean | undefined;

  /** In place of `process.cwd()`: where programs run, and where relative paths of all options begin. */
  readonly wdir?: string | undefined;
  /**
   * In place of `process.env`: what programs inherit as `export` and `unset` choose, and where `STCI_SESSION` and
   * parameters (`STCI_MCA_*`) are read. Variables without a value are left out.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Variables of `env` that programs get: `all`, `none`, or names and NAME=VALUE; default: all but secrets, and those
   * of this machine or session.
   */
  readonly export?: string | readonly string[] | undefined;
  /** Variables of `env`, or patterns, that programs do not get. */
  readonly unset?: string | readonly string[] | undefined;

  /** How agents are started on hosts: `local`, `ssh`. */
  readonly launcher?: string | undefined;
  /** Topology of links beside the tree. */
  readonly overlay?: string | undefined;
  /** Parameters by name, as `--mca` sets them. */
  readonly params?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** Files of parameters. */
  readonly paramFiles?: string | readonly string[] | undefined;
  /** Packages, by path, whose components are added; their code is loaded into this process, too. */
  readonly plugins?: string | readonly string[] | undefined;
  /** `abort` (default), `continue`, `notify`, `restart[:N]`, or by kind: `tool=restart:3,host=continue`. */
  readonly onFailure?: string | undefined;
  /** Of a host that does not come up: `abort` (default), `retry[:N]`, `spare`, `shrink`. */
  readonly onLaunchFailure?: string | undefined;
  /** Programs may use `@stci/client`. */
  readonly client?: boolean | undefined;
  /** Protocol that MPI libraries are offered: `auto` (default) is all, `pmi1`, `pmix`, or `none`. */
  readonly mpi?: 'auto' | 'pmi1' | 'pmix' | 'none' | undefined;
  /** The job is ended after this time: exit code 199. */
  readonly timeoutMs?: number | undefined;
  /** All ranks must run within this time: exit code 198; default: a minute, more with many hosts. */
  readonly launchTimeoutMs?: number | undefined;

  /** A session that runs (`stci start`), by its name, or `none`; default: that of STCI_SESSION, or none. */
  readonly session?: string | undefined;
  /** Waits for slots that other jobs of the session have. */
  readonly wait?: boolean | undefined;

  /** Who reads standard input: a rank, `all`, or `none`; default: rank 0 where there is `input`, else `none`. */
  readonly stdin?: number | 'all' | 'none' | undefined;
  /** Standard input; without it, what `Job.writeStdin` is given. */
  readonly input?: InputChunk | Iterable<InputChunk> | AsyncIterable<InputChunk> | undefined;
  /**
   * `iterate` (default): by `Job.output` or `Job.lines`; ranks wait while more than parameter `iof.window` is unread.
   * `discard`: it is dropped. `inherit`: whole lines to this process's standard output and error.
   */
  readonly output?: 'iterate' | 'discard' | 'inherit' | undefined;

  /** Ends the job in order when it is aborted, as Ctrl-C ends stcirun's. */
  readonly signal?: AbortSignal | undefined;
  /** INT, TERM and HUP of this process end the job, others are passed on, as those of stcirun; default: no handlers. */
  readonly handleSignals?: boolean | undefined;
  /** With `handleSignals`: what is passed on, such as `USR1,USR2`, or `none`. */
  readonly forwardSignals?: string | readonly string[] | undefined;
}

/** One program, or several that share the job's ranks (MPMD). */
export type LaunchOptions =
  | (JobOptions & ProgramOptions & { readonly programs?: never })
  | (JobOptions & { readonly programs: readonly ProgramOptions[] });
