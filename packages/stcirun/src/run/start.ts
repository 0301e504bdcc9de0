/** From a parsed command line to a running job: parameters, hosts, map, sinks, platform, front-end agent. */

import { join } from 'node:path';
import {
  createFrontEnd,
  createComposition,
  mapJob,
  paramsSnapshot,
  type ConfigFile,
  type Registry,
  type Composition,
} from '@stci/core';
import { parseTemplate } from '@stci/core/iof';
import { JobRun } from '@stci/core/run';
import type { AllocatedJob, HostSpec, JobMap, Params, Platform } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { AGENT_BUNDLE, AGENT_MAIN, localAgentCommand } from '../agent-files.js';
import { frontEndRegistry } from '../cli/front-end-registry.js';
import { checkSpec } from '../cli/bytes.js';
import { withheld } from '../cli/environment.js';
import { optionDefaults } from '../cli/defaults.js';
import type { CommandLine, RunRequest } from '../cli/parse.js';
import { colorErrors } from '../fault.js';
import { printError, printOut } from '../print.js';
import { JobFacts } from '../output/facts.js';
import { openSink } from '../output/open-sink.js';
import { openTerminal } from '../output/terminal.js';
import { callerDirectory } from './caller-directory.js';
import { checkFiles } from './check-files.js';
import { checkPrograms } from './check-programs.js';
import { mpiRemarks } from './mpi-program.js';
import { keepReportPipe, openDriver } from './driver.js';
import { loadParams } from './params.js';
import { showPlan } from './show-plan.js';
import { parseForwardList } from './signals.js';
import { prestartedAgent } from './prestarted-agent.js';
import { makeJobSpec } from './spec.js';

type RunLine = Extract<CommandLine, { kind: 'run' }>;

/** Everything that is determined before an agent is started. */
interface Prepared {
  /** The caller's directory. */
  readonly wdir: string | undefined;
  readonly request: RunRequest;
  readonly registry: Registry;
  readonly composition: Composition;
  readonly params: Params;
  readonly platform: Platform;
  readonly spec: AllocatedJob;
  readonly spares: readonly HostSpec[];
  readonly map: JobMap;
}

/**
 * The exit code. `agents`: directory of the agent's files. Throws StciError for what is wrong before anything is
 * started.
 */
export async function startRun(line: RunLine, agents: string, ignoresHangup = false): Promise<number> {
  const { wdir, request, registry, composition, params, platform, spec, spares, map } = await prepare(line, agents);
  const forwarded = parseForwardList(request.forwardSignals);
  const template = request.output === undefined ? undefined : parseTemplate(request.output);
  const scope = composition.scope('stcirun', params, platform);
  const method = scope.launchMethod([...spec.hosts, ...spares]);
  const isHere = (host: string): boolean => method === 'local' || host === platform.env.hostname;
  const facts = new JobFacts(map, params.int('iof.line.max'));
  checkFiles(request, template, facts, wdir);
  if (request.dryRun) checkPrograms(spec, map, isHere);
  if (request.dryRun || request.display !== undefined) {
    const text = showPlan({ request, spec, spares, map, params, scope });
    if (request.dryRun || request.json) printOut(text);
    else printError(text);
    if (request.dryRun) return 0;
  }
  if (request.exitReport?.file !== undefined) keepReportPipe(request.exitReport.file);
  const driver = openDriver({
    forwarded,
    ignoresHangup,
    map,
    openTerminal: (onFault) => openTerminal(onFault, request.color),
    openSink: (terminal, onFault) => openSink({ request, template, terminal, facts, onFault }),
  });
  return new Promise((resolve) => {
    const { hosts, ...job } = spec;
    const run = new JobRun({
      clock: platform.clock,
      spec: job,
      map,
      onMapped: (changed) => facts.remap(changed),
      options: request,
      failuresAtOnce: scope.errorManager(params).policy === 'continue',
      driver,
      startFrontEnd: (events) => {
        const snapshot = paramsSnapshot(registry.catalog, params);
        const allocation = { hosts, spares };
        return createFrontEnd({ platform, composition, params, snapshot, allocation }, events);
      },
      isHere,
      remarks: () => mpiRemarks(spec, map),
      onExit: resolve,
    });
    run.start();
  });
}

/** With --verbose ssh's steps are traced, unless the user has set the parameter. */
function withSteps({ verbose, mca, am }: RunLine['request']): Pick<RunLine['request'], 'mca' | 'am'> {
  const steps = { key: 'launcherproc.ssh.steps', value: 'true', origin: '--verbose' };
  return { am, mca: verbose && !mca.some(({ key }) => key.endsWith('.ssh.steps')) ? [steps, ...mca] : mca };
}

async function prepare(line: RunLine, agents: string): Promise<Prepared> {
  colorErrors(line.request.color);
  const wdir = callerDirectory();
  const registry = frontEndRegistry();
  const logLevel = process.env['STCI_DEBUG'] === '1' ? 'debug' : line.request.quiet ? 'error' : 'warn';
  const agentMain = join(agents, AGENT_MAIN);
  const platform = createNodePlatform({
    agentCommand: localAgentCommand(agents),
    agentMain,
    agentBundle: join(agents, AGENT_BUNDLE),
    logLevel,
    prestartedAgent: prestartedAgent(),
  });
  const { hostname, cpuCount, variables } = platform.env;
  const { params, warnings, files } = loadParams(registry, withSteps(line.request), wdir, variables);
  const request = await line.withDefaults(optionDefaults(params));
  colorErrors(request.color);
  if (!request.quiet) for (const warning of warnings) printError(`stcirun: ${warning}\n`);
  if (request.verbose) for (const file of files) printError(fileLine(file));
  const { spec, spares } = makeJobSpec(request, { wdir, hostname, cpuCount, variables });
  checkSpec(spec);
  if (request.verbose) printError(withheldLine(withheld(variables, spec.env)));
  const ranksMax = params.int('job.size.max');
  const ranksPerHostMax = params.int('job.ranks.per.host.max');
  const map = mapJob(spec, { ranksMax, ranksPerHostMax });
  return { wdir, request, registry, composition: createComposition(registry), params, platform, spec, spares, map };
}

function withheldLine(names: readonly string[]): string {
  return names.length === 0 ? '' : `stcirun: variables not passed on (--export, -x): ${names.join(' ')}\n`;
}

/** What `--verbose` reports of a file of parameters; nothing where there is none. */
function fileLine({ source, path, state, reason }: ConfigFile): string {
  if (state === 'read') return `stcirun: ${source} ${path}\n`;
  return state === 'unreadable' ? `stcirun: ${source} ${path} cannot be read: ${reason}. Going on without it.\n` : '';
}
