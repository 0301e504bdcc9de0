/**
 * Error codes, and the exit codes that they lead to. docs/reference/errors.md is made from these tables: the comment of
 * a code says what it means and, behind "To do:", what its reader is to do.
 */

/** Properties of an error code. */
export interface ErrorKind {
  /** Exit code of `stcirun` if this error ends it: 193..215, each with one meaning; smaller ones are for signals. */
  readonly exitCode: number;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
}

/** Exit codes of stcirun itself; 0..192 belong to the tools (192 = 128 + the highest signal). */
export const EXIT = {
  /** A mistake on the command line, or in the description of the job. */
  usage: 193,
  /** An unknown or bad parameter, component, plugin or topology. */
  parameter: 194,
  /** The hosts: a list or file that does not parse, an unknown host, too few slots; no such session. */
  allocation: 195,
  /** A program that cannot be started on its host. */
  program: 196,
  /** An agent did not come up. */
  launch: 197,
  /** Not all ranks ran within the launch timeout. */
  launchTimeout: 198,
  /** The job ran longer than its timeout. */
  jobTimeout: 199,
  /** An agent that was up was lost, or a detector found it silent. */
  agentLost: 200,
  /** Agents violated the protocol, or authentication failed. */
  protocol: 201,
  /** The front-end could not write the output, the exit report, or the file of --events. */
  output: 202,
  /** Processes of a tool could not be ended: another user's, or in a system call that does not return. */
  survived: 203,
  /** Of finject: a repeat did not pass. */
  experiment: 204,
  /** Ranks of one program that is linked with MPI ran each as an MPI job of its own. */
  singletons: 205,
  /** A defect of STCI: please report it. */
  internal: 215,
} as const;

const kind = (exitCode: number, retryable = false): ErrorKind => ({ exitCode, retryable });

/** Every error code: `STCI_<AREA>_<WHAT>`. */
export const ERROR_KINDS = {
  /**
   * A mistake on the command line: an unknown option, a bad value, options that contradict each other. To do: read
   * the message, which names the option and what was expected; `--help` lists all.
   */
  STCI_USAGE: kind(EXIT.usage),
  /**
   * A parameter that nothing declares, on the command line, in a file or in the environment. To do: compare with the
   * near names in the message, or look through `stci info`; a plugin's parameters need its `--plugin`.
   */
  STCI_PARAM_UNKNOWN: kind(EXIT.parameter),
  /**
   * A value that its parameter does not take, or that contradicts another parameter. To do: give one of the type and
   * within the bounds that the message names, at the source that it names.
   */
  STCI_PARAM_INVALID: kind(EXIT.parameter),
  /**
   * A configuration file that cannot be read, or has a line that is no `key = value`. To do: mend the file and line
   * of the message, or its owner and mode.
   */
  STCI_PARAM_FILE: kind(EXIT.parameter),
  /**
   * A plugin that cannot be used: its files, its manifest or its code do not fit. To do: read the message, which names
   * the plugin; its author is to mend it, or leave it out.
   */
  STCI_PLUGIN_INVALID: kind(EXIT.parameter),
  /**
   * A plugin's code failed or hangs, or its files cannot be had on a host. To do: read the message, which names plugin,
   * component and call; its author is to mend it, or leave it out.
   */
  STCI_PLUGIN_FAILED: kind(EXIT.parameter),
  /**
   * A framework that does not exist. To do: compare with the near names in the message, or look through `stci info`.
   */
  STCI_MCA_FRAMEWORK_UNKNOWN: kind(EXIT.parameter),
  /**
   * A component that its framework does not have. To do: compare with the near names in the message; one of a plugin
   * needs its `--plugin`.
   */
  STCI_MCA_COMPONENT_UNKNOWN: kind(EXIT.parameter),
  /**
   * A component was named and cannot be used here; the message has its reason. To do: remove the reason, or name
   * another component.
   */
  STCI_MCA_COMPONENT_DECLINED: kind(EXIT.parameter),
  /**
   * No component of a framework is both allowed and usable. To do: widen the selection list; `stci info FRAMEWORK
   * --why` shows each component's verdict.
   */
  STCI_MCA_NONE_AVAILABLE: kind(EXIT.parameter),
  /**
   * Two frameworks, components or parameters with one name. To do: leave one of the plugins out; without plugins it
   * is a defect of STCI: report it.
   */
  STCI_MCA_DUPLICATE: kind(EXIT.internal),
  /**
   * A component's declaration is wrong. To do: its author is to mend what the message names; without plugins it is a
   * defect of STCI: report it.
   */
  STCI_MCA_INVALID: kind(EXIT.internal),
  /**
   * A component was written for another version of its framework. To do: use a release of the component for this
   * version of STCI.
   */
  STCI_MCA_VERSION: kind(EXIT.internal),
  /**
   * Components need each other in a circle, which the message shows. To do: its authors are to break it; without
   * plugins it is a defect of STCI: report it.
   */
  STCI_MCA_CYCLE: kind(EXIT.internal),
  /**
   * A host list that cannot be read, such as `n[1-`. To do: mend it at the place that the message shows; try it with
   * 'stci hosts expand'.
   */
  STCI_HOSTLIST_INVALID: kind(EXIT.allocation),
  /** A host file that cannot be read, or has a line that is none. To do: mend the file and line of the message. */
  STCI_HOSTFILE_INVALID: kind(EXIT.allocation),
  /**
   * What a batch system says of its job's hosts cannot be used. To do: read the message, which names the variable and
   * what was expected; `--mca allocation=given` with --host, or `allocation=machine`, does without the batch system.
   */
  STCI_ALLOCATION_INVALID: kind(EXIT.allocation),
  /**
   * Slurm gave no allocation for --alloc. To do: read Slurm's words in the message: change the options of salloc that
   * it refuses, or try again later.
   */
  STCI_ALLOCATION_REFUSED: kind(EXIT.allocation, true),
  /**
   * A host that the job or the session does not have. To do: name one of its hosts; `stci ps` shows those of a
   * session.
   */
  STCI_HOST_UNKNOWN: kind(EXIT.allocation),
  /**
   * More ranks than the hosts have slots. To do: name more hosts or slots, ask for fewer ranks, or give
   * --oversubscribe; in a session, --wait.
   */
  STCI_SLOTS_EXCEEDED: kind(EXIT.allocation),
  /**
   * Ranks cannot be bound to processors on a host as was asked for: there are too few, or it has no such objects, or
   * neither taskset nor numactl. To do: ask for fewer ranks a host, bind to less, or write `--bind-to none`.
   */
  STCI_BINDING_IMPOSSIBLE: kind(EXIT.allocation),
  /**
   * A job that cannot be: ranks, hosts and placement do not fit each other. To do: change what the message names.
   */
  STCI_JOB_INVALID: kind(EXIT.usage),
  /** A job that the session does not have, or no longer. To do: take its name from `stci ps`. */
  STCI_JOB_UNKNOWN: kind(EXIT.usage),
  /** No session has the name, or several may be meant. To do: take a name from `stci ps`, or start one. */
  STCI_SESSION_UNKNOWN: kind(EXIT.allocation),
  /**
   * The session cannot be used: another version's, another user's, stopping. To do: use the release that started it,
   * or start another one.
   */
  STCI_SESSION_REFUSED: kind(EXIT.allocation),
  /**
   * The connection to the session ended. To do: look whether it is there still with `stci ps`; its log tells why it
   * ended.
   */
  STCI_SESSION_LOST: kind(EXIT.agentLost),
  /**
   * A topology that cannot be made of these options, or for this number of positions. To do: give the options that
   * the message expects; `stci info topology` lists them.
   */
  STCI_TOPOLOGY_INVALID: kind(EXIT.parameter),
  /**
   * A launcher policy gave no tree over the hosts, or failed. To do: choose another one with `--mca launcher=`; its
   * author is to mend what the message names.
   */
  STCI_LAUNCHER_TREE: kind(EXIT.parameter),
  /** The program is not on its host. To do: check the path there, PATH and the working directory. */
  STCI_PROGRAM_NOT_FOUND: kind(EXIT.program),
  /**
   * The program is there and cannot be executed: its mode, its format, or the file system. To do: make it executable
   * (chmod +x), or build it for this host.
   */
  STCI_PROGRAM_NOT_EXECUTABLE: kind(EXIT.program),
  /**
   * The working directory is not on the host, or cannot be entered. To do: create it there, or give --wdir another
   * one.
   */
  STCI_PROGRAM_WDIR: kind(EXIT.program),
  /**
   * The system did not start a process: a limit of processes or memory. To do: raise the limit that the message
   * names, start fewer ranks a host, or try again.
   */
  STCI_PROGRAM_SPAWN: kind(EXIT.program, true),
  /**
   * A tool ended with a status other than 0: the job's exit code is that status. To do: look at the program's own
   * messages.
   */
  STCI_TOOL_STATUS: kind(EXIT.program),
  /**
   * A tool was ended by a signal that the runtime did not send: the job's exit code is 128 + its number. To do: look
   * for a crash (SIGSEGV, SIGABRT), or for who sent it: the system's log for want of memory.
   */
  STCI_TOOL_SIGNAL: kind(EXIT.program),
  /**
   * Processes of a tool that survived SIGKILL: another user's, or in a system call that does not return. To do: end
   * those that the message lists as their user, or mend the file system that they hang in.
   */
  STCI_TOOL_SURVIVED: kind(EXIT.survived),
  /**
   * Ranks of a program that is linked with MPI did not ask their agent for the others: each was an MPI job of size 1.
   * To do: leave out `--mpi none`; a library that speaks neither PMI-1 nor PMIx needs the mpiexec of its MPI; if each
   * rank is to be alone, --mca mpi.singletons=warn.
   */
  STCI_MPI_SINGLETONS: kind(EXIT.singletons),
  /**
   * A program has called MPI_Abort: the exit code is what it gave, its lowest 8 bits, 1 where these are 0. To do: read
   * the message, and what the ranks have written.
   */
  STCI_MPI_ABORT: kind(1),
  /**
   * Ranks of an MPI program are not started again: what the others have of it cannot be mended. To do: use
   * `--on-failure notify`, with a program that goes on without who is lost, or `abort`.
   */
  STCI_MPI_RESTART: kind(EXIT.parameter),
  /**
   * Ranks of a job wait in MPI_Init for one that does not come: it has ended before, or has another MPI library. To do:
   * have all ranks of a job run programs of one MPI library; start others as a job of their own.
   */
  STCI_MPI_WORLD: kind(EXIT.singletons),
  /**
   * A rank ended with status 0 between MPI_Init and MPI_Finalize, so that others may wait for it. To do: have the
   * program call MPI_Finalize, or MPI_Abort, before it ends.
   */
  STCI_MPI_UNFINISHED: kind(1),
  /**
   * `stci mpi-shim build` could not build the library. To do: read what the compiler says; install the development
   * package of the MPI library, or name its compiler with --mpicc; or have it built, by -o, where nobody else can
   * exchange it.
   */
  STCI_MPI_SHIM: kind(EXIT.program),
  /**
   * The user ended the job: the exit code is 128 + the signal's number, 130 for Ctrl-C. To do: nothing; it was asked
   * for.
   */
  STCI_JOB_INTERRUPTED: kind(130),
  /**
   * The batch system takes the hosts away: cancelled, time limit, preempted. The exit code is 128 + SIGTERM, which it
   * sends. To do: read its words in the message; ask for more time, or submit the job again.
   */
  STCI_ALLOCATION_ENDED: kind(143),
  /**
   * An agent did not come up on a host. To do: read the reason in the message, then `stci doctor`;
   * --on-launch-failure goes on without the host.
   */
  STCI_LAUNCH_FAILED: kind(EXIT.launch, true),
  /**
   * Not all ranks ran within --launch-timeout. To do: look which hosts are slow with --verbose, or give it more time.
   */
  STCI_LAUNCH_TIMEOUT: kind(EXIT.launchTimeout, true),
  /** The job ran longer than its --timeout. To do: give it more time, or look where it hangs. */
  STCI_JOB_TIMEOUT: kind(EXIT.jobTimeout),
  /**
   * An agent that was up was lost, and with it its host. To do: look at the host; --on-failure and `errmgr.loss`
   * decide what a loss means.
   */
  STCI_AGENT_LOST: kind(EXIT.agentLost, true),
  /**
   * A peer speaks another version of the frames: no agent, or one of another release. To do: use one release on all
   * hosts; look what else connects to the port.
   */
  STCI_FRAME_VERSION: kind(EXIT.protocol),
  /**
   * A frame longer than allowed, or a length that cannot be. To do: report it, unless something else than an agent
   * connects to the port.
   */
  STCI_FRAME_LENGTH: kind(EXIT.protocol),
  /** A frame that is none: its magic number, its flags or its checksum. To do: as for STCI_FRAME_LENGTH. */
  STCI_FRAME_INVALID: kind(EXIT.protocol),
  /**
   * A message's body that is no valid CBOR, or not what was announced. To do: report it; hosts with different
   * releases are the usual cause.
   */
  STCI_CODEC_INVALID: kind(EXIT.protocol),
  /** A message of a type that the receiver does not have. To do: use one release on all hosts; else report it. */
  STCI_MESSAGE_UNKNOWN: kind(EXIT.protocol),
  /**
   * A message whose body does not have the shape of its type. To do: use one release on all hosts; else report it.
   */
  STCI_MESSAGE_INVALID: kind(EXIT.protocol),
  /** A message larger than `message.bytes.max`. To do: raise the parameter for the session, or send less at once. */
  STCI_MESSAGE_TOO_LARGE: kind(EXIT.protocol),
  /**
   * No way leads to the receiver: it is gone, or agents between are. To do: try again when the loss has been dealt
   * with; an overlay has more ways.
   */
  STCI_MESSAGE_UNROUTABLE: kind(EXIT.protocol, true),
  /**
   * A message ran out of hops: its routes went in a circle. To do: report it, with the topology; a plugin's topology
   * must pass its compliance suite.
   */
  STCI_MESSAGE_TTL: kind(EXIT.protocol),
  /**
   * A receiver is too far behind: too many messages to it are not acknowledged. To do: send more slowly, or try again
   * later.
   */
  STCI_MESSAGE_WINDOW: kind(EXIT.protocol, true),
  /**
   * A request was not answered within `request.timeout`. To do: try again; look at the host that did not answer;
   * raise the parameter.
   */
  STCI_REQUEST_TIMEOUT: kind(EXIT.protocol, true),
  /** Too many requests are waiting for answers. To do: send fewer at once, or try again later. */
  STCI_REQUEST_LIMIT: kind(EXIT.protocol, true),
  /** A stream's sender or receiver broke the rule of credit. To do: report it. */
  STCI_STREAM_CREDIT: kind(EXIT.protocol),
  /** The link between two agents ended. To do: try again; what ended it is told with the agent that was lost. */
  STCI_LINK_CLOSED: kind(EXIT.protocol, true),
  /**
   * A socket cannot be listened on: address or port is in use, or may not be used. To do: choose others with
   * `bootcom.ws.interface` and `bootcom.ws.ports`.
   */
  STCI_LISTEN_FAILED: kind(EXIT.launch, true),
  /** A directory for a job's temporary files cannot be made. To do: mend the one in the message, or set TMPDIR. */
  STCI_TEMPORARY_DIRECTORY: kind(EXIT.launch),
  /**
   * An agent cannot connect to its parent: no route, a firewall, a wrong address. To do: open the ports between the
   * hosts, or name the right address with `bootcom.ws.interface`; `stci doctor` checks.
   */
  STCI_LINK_UNREACHABLE: kind(EXIT.launch, true),
  /**
   * A peer could not prove that it knows the key: something else connected, or another session's agent. To do: if it
   * repeats, look what connects to the port that the message names.
   */
  STCI_AUTH_FAILED: kind(EXIT.protocol),
  /**
   * A peer that connected did not prove in time that it knows the key. To do: raise `launcher.handshake` on slow
   * hosts; else look what connects.
   */
  STCI_AUTH_TIMEOUT: kind(EXIT.protocol, true),
  /** An agent has more events waiting than `event.queue.max`. To do: report it, or raise the parameter. */
  STCI_EVENT_QUEUE_FULL: kind(EXIT.internal),
  /**
   * Output, exit report or events could not be written: disk full, no such directory. To do: mend what the message
   * names; `--output` and `--events` take other places.
   */
  STCI_OUTPUT_FAILED: kind(EXIT.output),
  /**
   * The reader of standard output has gone: 128 + SIGPIPE, as for any program that writes into a closed pipe. To do:
   * nothing, where it was meant, as with a pipe into head.
   */
  STCI_OUTPUT_CLOSED: kind(141),
  /**
   * A template of --output that cannot be used, or by which ranks would share a file. To do: give each rank its own
   * file: out/%h/%3r.%s.
   */
  STCI_OUTPUT_TEMPLATE: kind(EXIT.usage),
  /**
   * An experiment's file, or what it asks for, is wrong. To do: mend file, line and column that the message names;
   * `finject validate` lists all problems.
   */
  STCI_EXPERIMENT_INVALID: kind(EXIT.usage),
  /** A repeat of an experiment did not pass. To do: read the summary and report of its record. */
  STCI_EXPERIMENT_FAILED: kind(EXIT.experiment),
  /**
   * An experiment's record cannot be read. To do: name the directory of a run; `finject report` reads a damaged one
   * as far as it goes.
   */
  STCI_HISTORY_INVALID: kind(EXIT.usage),
  /**
   * A defect of STCI, or an error of a newer release that this one does not know. To do: report it, with the message
   * and the versions of `stci version`.
   */
  STCI_INTERNAL: kind(EXIT.internal),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;
