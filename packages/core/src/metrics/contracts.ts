/**
 * Metrics: counters and histograms that agents keep while they run, read with `stci metrics`. To count costs an
 * addition; names, units and types are in one table, scrape/table.ts.
 */

/** Values by name of the label, such as `detector`. Few different ones: each makes a row of its own. */
export type MetricLabels = Readonly<Record<string, string>>;

export interface Metrics {
  /**
   * Adds to a counter, or observes a value of a histogram. A name that the table does not have is a counter of the
   * detector in `labels`.
   */
  count(name: string, value: number, labels?: MetricLabels): void;
}
