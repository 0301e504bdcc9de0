/**
 * A front-end's copy of a job's report. The session sends each rank's report when the rank ends, and failures before
 * the end of the job; so the size of the last message does not depend on the number of ranks.
 */

import type { ErrorRecord, JobMap, JobReport, RankReport } from '@stci/interface';
import { placements } from '../job/placement.js';

export class ReportBuilder {
  readonly #failures: ErrorRecord[] = [];
  #map: JobMap | undefined;
  readonly #ranks: RankReport[] = [];

  /** The map may change until the launch, when no rank has ended; later only the places of ranks. */
  mapped(map: JobMap): void {
    this.#map = map;
  }

  exited(report: RankReport): void {
    this.#ranks[report.rank] = report;
  }

  failed(error: ErrorRecord): void {
    this.#failures.push(error);
  }

  /** The whole report. A rank without a report was never started. */
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
