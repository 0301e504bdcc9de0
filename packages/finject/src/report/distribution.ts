/** Distributions: every value as a dot, the quartiles, the median with its interval, the 95th percentile. */

import type { Figures } from '../judge/contracts.js';
import { quantile } from '../judge/statistics.js';
import { axisOf, duration, px, type Axis } from './format.js';
import { cut, html, svg, type Markup } from './markup.js';

/** Dots of one row. */
const DOTS_MAX = 500;
const WIDTH = 1040;
const LEFT = 190;
const RIGHT = 1010;
const ROW = 46;
const TOP = 8;

export interface Row {
  readonly label: string;
  readonly figures: Figures;
}

/** Rows of one measure, on one axis; at least one. */
export function distributionChart(rows: readonly Row[], title: string): Markup {
  const min = Math.min(...rows.map(({ figures }) => figures.min));
  const max = Math.max(...rows.map(({ figures }) => figures.max));
  const axis = axisOf(min, max, LEFT, RIGHT, true);
  const height = TOP + rows.length * ROW + 24;
  const isThinned = rows.some(({ figures }) => figures.values.length > DOTS_MAX);
  return html`<figure class="distribution"><svg viewBox="0 0 ${WIDTH} ${height}" role="img"
    aria-label="${title}">${gridOf(axis, TOP, height - 24)}${rows.map((row, index) =>
      rowOf(row, axis, TOP + index * ROW))}</svg>
    <figcaption>Each dot is one injection or repeat; box: quartiles; thick line: median, with its 95 % interval below;
    red line: 95th percentile.${axis.isLog ? ' The axis is logarithmic.' : ''}${isThinned
      ? ` Of more than ${DOTS_MAX} values so many, evenly ranked, are drawn.` : ''}</figcaption></figure>`;
}

export function gridOf(axis: Axis, top: number, bottom: number): Markup {
  return svg`${axis.ticks.map((tick) => svg`<line class="grid" x1="${px(axis.at(tick))}" x2="${px(axis.at(tick))}"
    y1="${top}" y2="${bottom}"/><text class="axis middle" x="${px(axis.at(tick))}" y="${bottom + 16}">${
      tickText(tick)}</text>`)}`;
}

function tickText(ms: number): string {
  const isLong = Math.abs(ms) >= 1000;
  return ms === 0 ? '0' : `${Number((isLong ? ms / 1000 : ms).toPrecision(6))} ${isLong ? 's' : 'ms'}`;
}

function rowOf({ label, figures }: Row, axis: Axis, top: number): Markup {
  const sorted = [...figures.values].sort((a, b) => a - b);
  const middle = top + ROW / 2 - 4;
  const x = (value: number): string => px(axis.at(value));
  const [q1, q3] = [quantile(sorted, 0.25), quantile(sorted, 0.75)];
  const { medianInterval: interval, median, p95 } = figures;
  const text = `${label}: n ${figures.n}, median ${duration(median)}, p95 ${duration(p95)}`;
  return svg`<g><title>${text}</title><text x="0" y="${middle}">${cut(label, 27)}</text>
    <text class="small" x="0" y="${middle + 15}">n = ${figures.n}</text>
    <rect class="box" x="${x(q1)}" y="${middle - 13}" width="${px(Math.max(1, axis.at(q3) - axis.at(q1)))}"
      height="26"/>
    ${thin(sorted).map((value, index) => svg`<circle class="dot" cx="${x(value)}" cy="${
      px(middle + (((index * 0.618034) % 1) - 0.5) * 20)}" r="2.6"/>`)}
    <line class="p95" x1="${x(p95)}" x2="${x(p95)}" y1="${middle - 13}" y2="${middle + 13}"/>
    <line class="median" x1="${x(median)}" x2="${x(median)}" y1="${middle - 15}" y2="${middle + 15}"/>
    ${interval === undefined ? undefined : svg`<path class="interval" fill="none" d="M${x(interval[0])} ${
      middle + 15}v6M${x(interval[0])} ${middle + 18}H${x(interval[1])}M${x(interval[1])} ${middle + 15}v6"/>`}</g>`;
}

/** Evenly ranked values, the first and the last among them. */
function thin(sorted: readonly number[]): readonly number[] {
  if (sorted.length <= DOTS_MAX) return sorted;
  return Array.from({ length: DOTS_MAX }, (_, i) =>
    sorted[Math.round((i * (sorted.length - 1)) / (DOTS_MAX - 1))] ?? 0);
}
