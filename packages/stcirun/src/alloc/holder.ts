/**
 * The program by which an allocation is held: salloc, whose command is a shell that tells its environment and waits.
 * That ends at the end of file of a pipe, whose other end is with who uses the allocation: so it is given back however
 * that one ends. If salloc is killed, this shell gives the allocation back.
 *
 * While the request is queued, salloc's command does not run yet: another shell waits for the same end of file and ends
 * salloc. salloc's command ends that shell, since salloc 22.05 may spin for ever where it gets TERM once it has a
 * command. salloc may have to wait for Slurm's controller to withdraw a request: it is killed only where it hangs,
 * since nobody else withdraws it then.
 *
 * Numbers of processes are used again, so each is checked for its parent: while salloc lives, its children keep theirs.
 *
 * None ends by a write to somebody who has gone (PIPE is ignored, also in salloc), nor by signals of a terminal, as
 * they have a session of their own.
 */

/** Longest environment that is read; the system's own bound on arguments and environment is less. */
const ENVIRONMENT_BYTES_MAX = 8 * 1024 * 1024;

/** A descriptor other than standard input, which Node closes when salloc has ended. */
export const KEEP = 3;

/** Mark before the environment, which ends with an empty entry. What else is written on standard output is not ours. */
const BEGIN = 'stci-allocation';

/** Slurm's bound on MessageTimeout, which salloc waits for an answer, is 100 s; there may be several controllers. */
const HANG_S = 600;
const PERIOD_S = 0.2;

/** Whether, in `sh`, the parent of a process is that one; `self`: of the shell itself. */
const isChild = (process: string, parent: string): string =>
  `{ read -r _ _ _ parent _ </proc/${process}/stat && [ "$parent" = "${parent}" ]; }`;

const COMMAND = `exec 2>/dev/null
${isChild('$STCI_SALLOC_QUEUE', '$PPID')} && kill -KILL "$STCI_SALLOC_QUEUE"
printf '${BEGIN}\\0'
cat /proc/self/environ
printf '\\0'
read -r _ <&${KEEP}
${isChild('self', '$PPID')} || exec scancel "$SLURM_JOB_ID"`;

/** The shell becomes salloc. Arguments: salloc's path, its options. */
const OUTER = `trap '' PIPE
i=0
(
  read -r _ <&${KEEP}
  while sleep ${PERIOD_S}; ${isChild('self', '$$')}; do
    i=$((i + 1))
    case $i in 2) kill -TERM $$ ;; ${HANG_S / PERIOD_S}) kill -KILL $$ ;; esac
  done
) >/dev/null 2>&1 &
export STCI_SALLOC_QUEUE=$!
exec "$@" -- /bin/sh -c '${COMMAND.replaceAll("'", "'\\''")}'`;

/** Program and arguments. Descriptor KEEP is the pipe, standard output the environment. */
export function holderCommand(salloc: string, args: readonly string[]): readonly [string, string[]] {
  return ['/bin/sh', ['-c', OUTER, 'stci-salloc', salloc, ...args]];
}

/** Reads the environment of salloc's command, of which the variables of Slurm are kept. */
export class EnvironmentReader {
  #bytes = Buffer.alloc(0);

  /** The variables, once all have come. Throws RangeError where there are too many. */
  add(chunk: Uint8Array): Readonly<Record<string, string>> | undefined {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const begin = this.#bytes.indexOf(`${BEGIN}\0`);
    const from = begin + BEGIN.length + 1;
    const end = begin < 0 ? -1 : this.#bytes.indexOf('\0\0', from);
    if (end >= 0) return slurmVariables(this.#bytes.toString('utf8', from, end));
    if (this.#bytes.length > ENVIRONMENT_BYTES_MAX) throw new RangeError('too long');
    return undefined;
  }
}

function slurmVariables(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(text.split('\0').flatMap((entry): [string, string][] => {
    const equals = entry.indexOf('=');
    const name = entry.slice(0, equals);
    return name.startsWith('SLURM_') ? [[name, entry.slice(equals + 1)]] : [];
  }));
}
