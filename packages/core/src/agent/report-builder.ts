/**
 * The front-end's copy of a job's report. The controller tells of each rank once, when it ends, and of the failures
 * before the end; the last message is then of the same size for any number of ranks.
 */

import type { ErrorRecord, JobMap, JobReport, RankReport } from '@stci/interface';
import { placements } from '../job/placement.js';

export class ReportBuilder {
  readonly #failures: ErrorRecord[] = [];
  #map: JobMap | undefined;
  #ranks: RankReport[] = [];

  /** Before any rank has ended: the job may be mapped anew until it is launched. */
  mapped(map: JobMap): void {
    this.#map = map;
    this.#ranks = [];
  }

  exited(report: RankReport): void {
    this.#ranks[report.rank] = report;
  }

  failed(error: ErrorRecord): void {
    this.#failures.push(error);
  }

  /** The whole report. A rank of which nothing was told was never started. */
  complete(summary: JobReport): JobReport {
    const map = this.#map;
    if (map === undefined) return summary;
    for (const { rank, host, app } of placements(map)) {
      const { name } = map.hosts[host] as JobMap['hosts'][number];
      this.#ranks[rank] ??= { rank, host: name, app, pid: 0, outcome: 'not-started', leftovers: 0 };
    }
    return { ...summary, ranks: this.#ranks, failures: this.#failures };
  }
}
