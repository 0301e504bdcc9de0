/**
 * `stci info`: frameworks, components, parameters with value, source and help; `--why` explains a selection, `--held`
 * shows what the agents of a session hold.
 */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {
  createSelector, describe, detectorPromises, infoOverview, infoText, parseInfoTarget, platformFacts, promiseRequest,
  promiseText, selectedDetectors, type NamedPromise, type Registry,
} from '@stci/core';
import { StciError, type Facts, type Params } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { reasonOf } from '../cli/conflicts.js';
import { optionDefaults } from '../cli/defaults.js';
import { parseDefault } from '../cli/parse.js';
import { jsonText, printOut } from '../process/print.js';
import { callerDirectory } from '../files/caller-directory.js';
import { loadFlagParams, commonFlags, StciCommand } from './base.js';
import { isSessionName } from '../session/session-name.js';
import { printHeld } from './held.js';
import { sessionFlags } from './session-command.js';

/** Number of agents for which promises and costs are shown where the hosts are not known. */
const AGENTS = 16;

/** Promises of the detectors that the parameters select, or of one. */
function promisesOf(registry: Registry, params: Params, facts: Facts, only: string | undefined): NamedPromise[] {
  const detectors = selectedDetectors(createSelector(registry, params, facts), params);
  const wanted = detectors.filter(({ name }) => only === undefined || name === only);
  return detectorPromises(wanted, promiseRequest(params, AGENTS));
}

export class InfoCommand extends StciCommand {
  static override readonly summary = 'frameworks, components and parameters, with values and where they come from';
  static override readonly synopsis = '[FRAMEWORK[:COMPONENT]] [--all] [--why] [--held [SESSION]] [--json]';
  static override readonly page = 'parameters.md';
  static override readonly details = `
Examples:
  stci info                    a page: what there is, and what is set
  stci info --all              everything, with its help
  stci info launcher:tree      one component
  stci info launcher.tree.arity
  stci info errmgr --why       which error manager is chosen, and why
  stci info --held night       what each agent of a session holds
`;

  static override args = {
    target: Args.string({
      ignoreStdin: true, description: 'a framework, one of its components, or a parameter; with --held a session',
    }),
  };
  static override flags = {
    all: Flags.boolean({ description: 'all parameters and components with their help, instead of a page' }),
    why: Flags.boolean({ description: 'the verdict of every component: its priority, or why it declines' }),
    held: Flags.boolean({ description: 'instead, what each agent of a session holds: jobs, processes, links, timers' }),
    json: commonFlags.json,
    plugin: commonFlags.plugin,
    ...sessionFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(InfoCommand);
    if (flags.held) {
      const { all, why, plugin } = flags;
      const { target: named } = args;
      const target = named !== undefined && isSessionName(named) ? undefined : named;
      const other = all ? '--all' : why ? '--why' : plugin === undefined ? target : '--plugin';
      if (other === undefined) return printHeld(flags, named);
      const reason = 'it shows what the agents of a session hold, not what could be chosen';
      throw new StciError('STCI_USAGE', `--held and ${other} cannot be combined${reasonOf(reason)}`);
    }
    if (flags.session !== undefined) {
      throw new StciError('STCI_USAGE', '--session is for --held: give that as well, or leave it out.');
    }
    const { registry, params, files } = await loadFlagParams(flags, callerDirectory());
    for (const option of optionDefaults(params)) await parseDefault(option);
    if (args.target !== undefined && flags.all) {
      throw new StciError('STCI_USAGE', `--all and ${args.target} cannot be combined: one is everything.`);
    }
    const facts = platformFacts(createNodePlatform());
    const target = args.target === undefined ? undefined : parseInfoTarget(args.target);
    const info = describe(registry, params, {
      target, why: flags.why, facts, files, requests: { allocation: { hosts: [], hostfiles: [] } },
    });
    const isWanted = info.frameworks.some(({ name }) => name === 'detector');
    const promises = isWanted ? promisesOf(registry, params, facts, target?.component) : [];
    const members = `for ${AGENTS} agents and messages within ${params.int('detector.latency')} ms`;
    const lines = promises.map((promise) => `  ${promiseText(promise)}\n`).join('');
    const isPage = target === undefined && !flags.all && !flags.why && !flags.json;
    if (isPage) printOut(infoOverview(info));
    else if (flags.json) printOut(jsonText({ ...info, ...(isWanted && { promises }) }));
    else printOut(`${infoText(info)}${lines === '' ? '' : `\nwhat detectors promise, ${members}\n${lines}`}`);
  }
}
