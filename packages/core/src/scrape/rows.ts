/** The rows of an agent: what it has counted, by the names that are told. */

import type { MetricSpec } from '@stci/interface';
import type { MetricRow } from '../metrics/row.js';
import type { MetricStore } from '../metrics/store.js';
import { METRICS, detectorFamily, type MetricFamily } from './table.js';

/** `declared`: the metrics of a detector. */
export type Declared = (detector: string) => Readonly<Record<string, MetricSpec>>;

/** To read them does not change them. */
export function rowsOf(store: Pick<MetricStore, 'all'>, declared: Declared): MetricRow[] {
  return store.all().map(({ name, labels, values }) => {
    const { name: told, type, help } = familyOf(name, declared, labels['detector']);
    return [told, type, help, Object.entries(labels).flat(), values.slice(0, type === 'counter' ? 1 : values.length)];
  });
}

function familyOf(name: string, declared: Declared, detector = ''): MetricFamily {
  const spec = detector === '' ? undefined : declared(detector)[name];
  if (spec !== undefined) return detectorFamily(name, spec);
  return METRICS[name] ?? detectorFamily(name, { type: 'counter', help: 'Not declared by its detector.' });
}
