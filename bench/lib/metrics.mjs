/** What `stci metrics` prints, read. */

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/u;

/**
 * `sum(name, labels)`: of all samples of that name whose labels are these. `histogram(name, labels)`: how many values
 * were counted up to each bound in ms, Infinity last.
 */
export function counters(text) {
  const samples = text.split('\n').flatMap((line) => {
    const match = SAMPLE.exec(line);
    if (match === null) return [];
    const [, name, labels = '', value] = match;
    return [{ name, labels: new Map(labels.split(',').map((each) => each.split('='))), value: Number(value) }];
  });
  const select = (name, labels = {}) => samples.filter((sample) => sample.name === name
    && Object.entries(labels).every(([key, value]) => sample.labels.get(key) === `"${value}"`));
  const sum = (name, labels) => select(name, labels).reduce((total, { value }) => total + value, 0);
  const histogram = (name, labels) => {
    const buckets = new Map();
    for (const { labels: of, value } of select(`${name}_bucket`, labels)) {
      const bound = of.get('le').slice(1, -1);
      const boundMs = bound === '+Inf' ? Infinity : Math.round(Number(bound) * 1e6) / 1000;
      buckets.set(boundMs, (buckets.get(boundMs) ?? 0) + value);
    }
    return buckets;
  };
  return { sum, histogram };
}

/** How many values were counted between two readings: more than each of `boundsMs`, and the bound of the largest. */
export function above(before, after, boundsMs) {
  const upTo = (boundMs) => (after.get(boundMs) ?? 0) - (before.get(boundMs) ?? 0);
  const total = upTo(Infinity);
  const largest = [...after.keys()].sort((a, b) => a - b).find((boundMs) => upTo(boundMs) === total);
  return { total, above: boundsMs.map((boundMs) => total - upTo(boundMs)), largestMs: total === 0 ? 0 : largest };
}
