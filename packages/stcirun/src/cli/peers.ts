/**
 * Options as other launchers spell them (mpiexec of MPICH and Open MPI, srun, pdsh): accepted where the meaning is the
 * same, else answered with the option of ours that does it. A single dash before a long name is accepted throughout.
 */

import type { FlagName } from './flags.js';

/** Ours, or ours with a fixed value. */
type Synonym = FlagName | readonly [FlagName, string];

const names = <T>(value: T, list: string): [string, T][] => list.split(' ').map((name) => [name, value]);

/** Synonyms by name without its dashes. */
export const SYNONYMS: ReadonlyMap<string, Synonym> = new Map<string, Synonym>([
  ...names<Synonym>('np', 'ntasks'),
  ...names<Synonym>('ppn', 'perhost npernode ntasks-per-node tasks-per-node'),
  ...names<Synonym>('host', 'hosts nodelist'),
  ...names<Synonym>('hostfile', 'machinefile machine-file host-file nodefile default-hostfile'),
  ...names<Synonym>('wdir', 'wd chdir'),
  ...names<Synonym>('export', 'genvlist'),
  ...names<Synonym>('launcher', 'bootstrap'),
  ...names<Synonym>('timestamp', 'timestamp-output'),
  ...names<Synonym>(['export', 'all'], 'genvall'),
  ...names<Synonym>(['export', 'none'], 'genvnone'),
  ...names<Synonym>(['tag', 'rank'], 'prepend-rank label'),
  ...names<Synonym>(['map-by', 'node'], 'bynode'),
  ...names<Synonym>(['map-by', 'slot'], 'byslot'),
  ...names<Synonym>('cpus-per-rank', 'cpus-per-proc'),
  ...names<Synonym>('report-bindings', 'display-bindings'),
  ...names<Synonym>(['ppn', '1'], 'pernode'),
  ...names<Synonym>(['display', 'map'], 'display-map print-rank-map'),
]);

/** Single letters of theirs that are no letters of ours. */
export const LETTERS: ReadonlyMap<string, FlagName> = new Map([
  ['H', 'host'],
  ['w', 'host'],
  ['f', 'hostfile'],
  ['D', 'wdir'],
]);

/** Another meaning, or none here: what to write instead. */
export const HINTS: ReadonlyMap<string, string> = new Map([
  ...names('For one program write -x NAME or -x NAME=VALUE; --export is for the whole job.', 'envlist envall envnone'),
  ...names("Write --output TEMPLATE, such as --output 'out/%r.%s'.",
    'outfile-pattern errfile-pattern output-filename output-directory error o e'),
  ...names('Write --tag, or --tag=full for host, rank and stream.', 'tag-output prepend-pattern stream-buffering'),
  ...names('Write --bind-to core, hwthread, socket, numa or none.', 'binding cpu-bind bind-to-core bind-to-socket '
    + 'bind-to-none cpu-set cpu-list use-hwthread-cpus'),
  ...names('Write --cpus-per-rank N for N cores of each rank; with --bind-to hwthread, N hardware threads.',
    'c cpus-per-task'),
  ...names('Write --ppn N with --map-by socket: N on each host, in turn on its sockets.', 'npersocket npercore'),
  ...names('Ranks are numbered as they are placed: write --map-by.', 'rank-by ranking'),
  ...names('Slots that were given are a limit unless --oversubscribe is given.', 'nooversubscribe overcommit O'),
  ...names('Write --on-failure continue; to end the job at a failure is the default.',
    'disable-auto-cleanup enable-recovery continuous kill-on-bad-exit K no-kill'),
  ...names('Write --exit-report.', 'print-all-exitcodes'),
  ...names('For agents write --mca bootcom.ws.interface=ADDRESS; an MPI library has variables of its own: -x '
    + 'UCX_NET_DEVICES=NAME (MPICH), -x OMPI_MCA_btl_tcp_if_include=NAME (Open MPI).', 'iface'),
  ...names("Write --mca KEY=VALUE; 'stci info' shows the parameters.", 'prtemca pmixmca'),
  ...names("Write --session NAME; 'stci start' makes a session, 'stci ps' shows them.", 'dvm dvm-uri jobid '
    + 'nameserver ompi-server server-wait report-uri'),
  ...names('Write -x OMPI_MCA_NAME=VALUE: the library reads its parameters there.', 'omca gomca'),
  ...names('Write the directories: -x PATH=..., -x LD_LIBRARY_PATH=...', 'prefix path'),
  ...names('Slots of hosts are the universe: write --host a:8.', 'usize'),
  ...names('Programs are not copied: put them where each host finds them.', 'preload-binary preload-files'),
  ...names('Write --on-failure restart:N.', 'max-restarts'),
  ...names('Write --bind-to: memory comes from where a rank runs.', 'membind'),
  ...names('Write a script that gives each rank its own, by STCI_LOCAL_RANK.', 'gpus-per-proc'),
  ...names('Hosts come from the batch system that is there, or by --host: leave it out.', 'rmk localhost'),
  ...names('Ranks are placed by --host with slots (a:2,b:1) and --map-by.', 'rankfile rf distribution m r relative'),
  ...names('Write --am FILE, or --mca KEY=VALUE.', 'tune gmca'),
  ...names('Write --mca launcher.ssh.client=PROGRAM.', 'launcher-exec bootstrap-exec'),
  ...names('Write --dry-run, or --display all.', 'display-allocation show-progress test-only do-not-launch'),
  ...names('Write --stdin WHO.', 's input i'),
  ...names("Write --timeout TIME (10 is 10 s) for the job. Slurm's limit is the allocation's: --alloc='--time=MIN', "
    + 'or an option of sbatch or salloc.', 't time'),
  ...names('MPI programs find PMI-1 and PMIx as they are started: leave it out, or write --mpi pmi1, pmix or none.',
    'pmi pmix pmi-port'),
  ...names('Write --exclude LIST for hosts to leave out.', 'nolocal'),
  ...names('It is not needed here: leave it out.', 'allow-run-as-root unbuffered u '
    + 'no-requeue noprefix personality hetero-nodes novm disable-hostname-propagation leave-session-attached'),
  ...names("It belongs to the allocation: write --alloc='-p NAME ...' with it, or, inside of a batch job, give "
    + 'it to sbatch or salloc.', 'p partition A account J job-name qos reservation exclusive mem mem-per-cpu gres '
    + 'gpus G gpus-per-node C constraint L licenses begin immediate comment'),
  ...names('Steps of STCI share the hosts with others: leave it out.', 'overlap'),
  ...names("Write the programs with ':' between: stcirun -n 2 A : -n 3 B.", 'multi-prog configfile'),
  ...names("Write 2>&1 behind stcirun's command.", 'merge-stderr-to-stdout'),
  ...names('The job ends with its last rank, or at a failure; --timeout TIME bounds it.', 'W'),
  ...names('STCI_DEBUG=1 shows more.', 'd debug debug-devel debug-daemons'),
]);

/** Frameworks of Open MPI's library, whose parameters mpirun takes by an option of the name of ours. */
const OPEN_MPI_PARAMETER = new RegExp('^(?:accelerator|allocator|bml|btl|coll|common|fbtl|fcoll|fs|hook|io|memory|mpi'
  + '|mpool|mtl|ompi|op|opal|osc|part|patcher|pml|rcache|sharedfp|shmem|smsc|topo|vprotocol)(?:_\\w+)?$', 'u');

/** What to write instead of a parameter of Open MPI; undefined where it is none. */
export function peerParameter(key: string, value: string): string | undefined {
  return OPEN_MPI_PARAMETER.test(key) ? `It is Open MPI's: write -x OMPI_MCA_${key}=${value}` : undefined;
}

/** Words of others that mean an option of ours, as they are written. */
export function synonymsOf(name: FlagName): readonly string[] {
  const letters = [...LETTERS].filter(([, own]) => own === name).map(([letter]) => `-${letter}`);
  return [...letters, ...[...SYNONYMS].filter(([, own]) => own === name).map(([word]) => `--${word}`)];
}
