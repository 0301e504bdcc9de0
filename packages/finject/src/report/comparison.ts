/**
 * Groups side by side: outcome shares with their intervals, and for each measure how far the second lies from the first
 * (Hodges–Lehmann, interval by Moses, test by Mann and Whitney). As markup, and as text for a terminal.
 */

import { alignColumns } from '@stci/core';
import { compareSamples, type Shift } from '../judge/statistics.js';
import { duration, percent } from './format.js';
import type { Group } from './groups.js';
import { html, type Markup } from './markup.js';

export interface MeasureComparison {
  readonly measure: string;
  /** Of injections of this kind; empty: of all. */
  readonly kind: string;
  readonly first: { readonly label: string; readonly n: number; readonly median: number };
  readonly second: { readonly label: string; readonly n: number; readonly median: number };
  /** Second minus first, ms. */
  readonly shift: Shift;
}

export interface OutcomeComparison {
  readonly outcome: string;
  readonly shares: readonly {
    readonly label: string; readonly count: number; readonly n: number; readonly interval: readonly [number, number];
  }[];
}

export interface Comparison {
  readonly measures: readonly MeasureComparison[];
  readonly outcomes: readonly OutcomeComparison[];
}

/** The first group against each other; measures that both have. */
export function compareGroups(groups: readonly Group[]): Comparison {
  const [base, ...others] = groups;
  if (base === undefined) return { measures: [], outcomes: [] };
  const measures = base.figures.flatMap((first) => others.flatMap((group) => {
    const second = group.figures.find(({ measure, kind }) => measure === first.measure && kind === first.kind);
    if (second === undefined) return [];
    const side = (label: string, { n, median }: { readonly n: number; readonly median: number }) =>
      ({ label, n, median });
    return [{
      measure: first.measure, kind: first.kind, first: side(base.label, first), second: side(group.label, second),
      shift: compareSamples(first.values, second.values),
    }];
  }));
  const outcomes = [...new Set(groups.flatMap((group) => group.outcomes.map(({ what }) => what)))]
    .map((outcome) => ({
      outcome,
      shares: groups.flatMap(({ label, outcomes: own }) => own.filter(({ what }) => what === outcome)
        .map(({ count, n, interval }) => ({ label, count, n, interval }))),
    }))
    .filter(({ shares }) => shares.some(({ count }) => count > 0));
  return { measures, outcomes };
}

export function comparisonSection(groups: readonly Group[]): Markup {
  const { measures } = compareGroups(groups);
  if (measures.length === 0) return html`<p>No measure is known of both.</p>`;
  return html`<div class="scroll"><table class="comparison"><thead><tr><th>measure</th><th>of</th><th>against</th>
    <th class="num">median</th><th class="num">median of the other</th><th class="num">difference</th>
    <th class="num">95 % interval</th><th class="num">p</th></tr></thead><tbody>${measures.map((one) => html`<tr>
    <td>${named(one)}</td><td>${one.second.label}</td><td>${one.first.label}</td>
    <td class="num">${duration(one.second.median)}</td><td class="num">${duration(one.first.median)}</td>
    <td class="num"><b>${signed(one.shift.estimate)}</b></td><td class="num">${intervalText(one.shift)}</td>
    <td class="num">${pText(one.shift.p)}</td></tr>`)}</tbody></table></div>
    <p class="note">Difference: median of all pairwise differences (Hodges–Lehmann), interval by Moses; p: Mann and
    Whitney's test, two-sided, ${measures.every(({ shift }) => shift.isExact) ? 'exact'
      : 'exact for small samples without ties, else by normal approximation'}. Many comparisons make small p by
        chance.</p>`;
}

function named({ measure, kind }: MeasureComparison): string {
  return kind === '' ? measure : `${measure}, ${kind}`;
}

function signed(ms: number): string {
  return `${ms > 0 ? '+' : ms < 0 ? '−' : ''}${duration(Math.abs(ms))}`;
}

function intervalText({ interval }: Shift): string {
  return interval === undefined ? '–' : `${signed(interval[0])} to ${signed(interval[1])}`;
}

function pText(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** Comparison for a terminal: lines of columns. */
export function comparisonText(groups: readonly Group[]): string {
  const { measures, outcomes } = compareGroups(groups);
  const lines = [['outcome', ...groups.map(({ label }) => label)]];
  for (const { outcome, shares } of outcomes) {
    lines.push([outcome, ...groups.map(({ label }) => {
      const share = shares.find((one) => one.label === label);
      return share === undefined || share.n === 0 ? '-'
        : `${share.count} of ${share.n} (${percent(share.interval[0])} to ${percent(share.interval[1])})`;
    })]);
  }
  const rows = [['measure', 'of', 'n', 'median', 'against', 'n', 'median', 'difference', '95 % interval', 'p']];
  for (const one of measures) {
    rows.push([
      named(one), one.second.label, String(one.second.n), duration(one.second.median), one.first.label,
      String(one.first.n), duration(one.first.median), signed(one.shift.estimate), intervalText(one.shift),
      pText(one.shift.p),
    ]);
  }
  const table = (list: readonly (readonly string[])[]): string => alignColumns(list).join('\n');
  return `${table(lines)}\n\n${rows.length > 1 ? table(rows) : 'No measure is known of both.'}\n`;
}
