/** `stci metrics`: counters and histograms of a running session. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import type { AgentMetrics } from '@stci/core/session';
import { printError, printOut } from '../process/print.js';
import { promised } from '../session/ask.js';
import { connectToEither, SESSION_ARGUMENT, sessionFlags, StciCommand } from './session-command.js';

export class MetricsCommand extends StciCommand {
  static override readonly summary = 'counters and histograms of a session, as OpenMetrics text';
  static override readonly synopsis = '[SESSION] [--by-agent]';
  static override readonly page = 'metrics.md';
  static override readonly details = `
Without SESSION that of STCI_SESSION, else the only one. See docs/metrics.md.

Examples:
  stci metrics night
  stci metrics night --by-agent | grep lag
`;

  static override args = { session: Args.string({ ignoreStdin: true, description: SESSION_ARGUMENT }) };
  static override flags = {
    'by-agent': Flags.boolean({ description: 'of each agent by itself; else the sums over all' }),
    ...sessionFlags,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(MetricsCommand);
    const { client } = await connectToEither(flags, args.session);
    const agents: AgentMetrics[] = [];
    const silent = await promised<readonly string[]>((done) =>
      client.call('client.metrics', {}, done, (one) => agents.push(one)));
    client.close();
    const { metricsText } = await import('./metrics-text.js');
    printOut(await metricsText(agents, flags['by-agent']));
    if (silent.length > 0) printError(`stci metrics: without ${silent.join(', ')}, which did not answer\n`);
    return 0;
  }
}
