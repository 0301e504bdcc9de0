/** The tables of a report: outcomes, figures, coverage, injections, failed checks, parameters. */

import { repeatName } from '../experiment/names.js';
import type { RecordOf } from '../judge/repeat-view.js';
import type { Coverage, Figures, Proportion, RepeatSummary, RunSummary } from '../judge/contracts.js';
import { MEASURES } from '../judge/summary.js';
import { counted, duration, percent, px } from './format.js';
import type { Group } from './groups.js';
import { cut, html, svg, type Markup } from './markup.js';

const ROWS_MAX = 1000;
const NAMES_MAX = 40;
const PROBLEMS_MAX = 50;
const BAR = 300;

export function outcomeTable(groups: readonly Group[]): Markup {
  const rows = groups.flatMap(({ label, outcomes }) => outcomes.filter(({ count }) => count > 0)
    .map((one, index) => outcomeRow(index === 0 ? label : '', one)));
  return html`<div class="scroll"><table class="outcomes"><thead><tr><th>${groups.length > 1 ? 'configuration' :
    ''}</th>
    <th>outcome</th><th class="num">repeats</th><th class="num">share</th><th class="num">95 %
      interval</th><th></th></tr>
    </thead><tbody>${rows}</tbody></table></div>
    <p class="note">Intervals of shares: Wilson. Masked: no failure was reported; recovered: reported, and the job
      went on to
    its end; aborted: reported, and the job was ended; missed: a victim's end was never reported; hung: the time limit
    ended it; false alarm: something was reported as failed that no fault had hit, and that had not ended by itself;
    failed: the target failed by itself, before a fault or without one in force.</p>`;
}

function outcomeRow(label: string, { what, count, n, interval: [low, high] }: Proportion): Markup {
  const bar = svg`<svg viewBox="0 0 ${BAR} 16" aria-hidden="true"><rect class="track" width="${BAR}" height="16"
    rx="3"/>
    <rect class="${what}" width="${px((BAR * count) / n)}" height="16" rx="3"/><path class="whisker" fill="none"
    d="M${px(BAR * low)} 4v8M${px(BAR * low)} 8H${px(BAR * high)}M${px(BAR * high)} 4v8"/></svg>`;
  return html`<tr class="mid"><td>${label}</td><td>${outcomeName(what)}</td><td class="num">${count} of ${n}</td>
    <td class="num">${percent(count / n)}</td><td class="num">${percent(low)} to ${
      percent(high)}</td><td>${bar}</td></tr>`;
}

export function outcomeName(what: string): string {
  return what.replace(/-/g, ' ');
}

/** What the measures of an injection are counted from, and to. */
const MEASURED = 'Detection counts from the fault, as its site stamped it when it had made it, to the confirmation at '
  + 'the agent that detected the failure; notification to when the last agent was told; recovery to the first action '
  + 'by which what failed goes on. All on one clock, by the measured offsets of the hosts.';

export function figuresTable(groups: readonly Group[]): Markup {
  const rows = MEASURES.flatMap((measure) => groups.flatMap(({ label, figures }) =>
    figures.filter((one) => one.measure === measure).map((one) => figuresRow(label, one))));
  return html`<div class="scroll"><table class="figures"><thead><tr><th>measure</th><th>of</th><th class="num">n</th>
    <th class="num">median</th><th class="num">95 % interval</th><th class="num">p95</th><th class="num">mean</th>
    <th class="num">deviation</th><th class="num">min</th><th class="num">max</th></tr></thead>
    <tbody>${rows}</tbody></table></div>
    <p class="note">${MEASURED} Duration is a repeat's. The interval is the median's, by order
      statistics (binomial), from 6 values on. Quantiles: linear interpolation (type 7).</p>`;
}

function figuresRow(label: string, one: Figures): Markup {
  const { medianInterval: interval } = one;
  return html`<tr><td>${one.measure}</td><td>${figuresLabel(label, one)}</td><td class="num">${one.n}</td>
    <td class="num"><b>${duration(one.median)}</b></td><td class="num">${interval === undefined ? '–'
      : `${duration(interval[0])} to ${duration(interval[1])}`}</td><td class="num">${duration(one.p95)}</td>
    <td class="num">${duration(one.mean)}</td><td class="num">${duration(one.deviation)}</td>
    <td class="num">${duration(one.min)}</td><td class="num">${duration(one.max)}</td></tr>`;
}

export function figuresLabel(label: string, { kind }: Figures): string {
  return kind === '' ? label : `${label === 'all repeats' ? '' : `${label}, `}${kind}`;
}

export function coverageTable(coverage: readonly Coverage[]): Markup {
  return html`<div class="scroll"><table class="coverage"><thead><tr><th></th><th>hit</th><th>planned, never
    hit</th></tr>
    </thead><tbody>${coverage.map(({ dimension, hit, missed }) => html`<tr><td>${dimension}s</td><td class="wide">${
      names(hit.map(({ name, count }) => `${name} (${count})`))}</td><td class="wide">${names(missed)}</td></tr>`)}
    </tbody></table></div>`;
}

function names(list: readonly string[]): string {
  if (list.length === 0) return 'none';
  const shown = list.slice(0, NAMES_MAX).map((name) => cut(name, 60)).join(', ');
  return list.length > NAMES_MAX ? `${shown} and ${list.length - NAMES_MAX} more` : shown;
}

export function injectionTable({ repeats }: RunSummary): Markup {
  const all = repeats.flatMap((repeat) => repeat.injections.map((one) => ({ repeat, one })));
  const rows = all.slice(0, ROWS_MAX).map(({ repeat, one }) =>
    html`<tr><td class="num">${repeat.number}</td><td>${repeat.configuration}</td><td>${one.name}</td>
    <td>${one.kind}</td><td>${cut(one.victimName, 60)}</td><td class="num">${since(one.injectedMs, repeat.startMs)}</td>
    <td>${one.detector ?? '–'}</td><td class="num">${duration(one.detectionMs)}</td>
    <td class="num">${one.detectionMs === undefined ? '' : `± ${duration(one.errorMs)}`}</td>
    <td class="num">${duration(one.notificationMs)}</td><td class="num">${duration(one.recoveryMs)}</td></tr>`);
  return html`<div class="scroll"><table class="injections"><thead><tr><th class="num">repeat</th>
    <th>configuration</th><th>injection</th><th>kind</th>
    <th>victim</th><th class="num">at</th><th>detector</th><th class="num">detection</th><th class="num">error</th>
    <th class="num">notification</th><th class="num">recovery</th></tr></thead><tbody>${rows}</tbody></table></div>${
    all.length > ROWS_MAX ? html`<p class="note">The first ${ROWS_MAX} of ${all.length}; injections.csv has all.</p>`
      : ''}`;
}

function since(ms: number | undefined, startMs: number): string {
  return ms === undefined ? 'never' : duration(ms - startMs);
}

/** What did not pass, and what is doubtful; undefined: nothing. */
export function problemList({ repeats }: RunSummary): Markup | undefined {
  const items = repeats.flatMap((one) => {
    const { outcome, checks, falseDetections, problems } = one;
    const where = repeatName(one);
    return [
      ...(['cut-off', 'hung', 'failed'].includes(outcome) ? [['bad', where, outcomeName(outcome)]] : []),
      ...checks.filter(({ isPassed }) => !isPassed).map(({ name, text }) => ['bad', `${where}: check ${name}`, text]),
      ...falseDetections.map((text) => ['bad', `${where}: false detection`, text]),
      ...problems.map((text) => ['doubt', where, text]),
    ];
  });
  if (items.length === 0) return undefined;
  return html`<ul class="problems">${items.slice(0, PROBLEMS_MAX).map(([level = '', where = '', text = '']) =>
    html`<li><b class="${level}">${where}:</b> ${cut(text, 400)}</li>`)}</ul>${items.length > PROBLEMS_MAX
    ? html`<p class="note">${counted(items.length - PROBLEMS_MAX, 'more line')} of this kind: see repeats.csv.</p>` :
      ''}`;
}

/** Share of repeats that passed each check. */
export function checkTable(repeats: readonly RepeatSummary[]): Markup | undefined {
  const byName = new Map<string, number[]>();
  for (const { name, isPassed } of repeats.flatMap(({ checks }) => checks)) {
    byName.set(name, [...(byName.get(name) ?? []), isPassed ? 1 : 0]);
  }
  if (byName.size === 0) return undefined;
  return html`<table class="checks"><thead><tr><th>check</th><th class="num">passed</th></tr></thead><tbody>${
    [...byName].map(([name, results]) => {
      const passed = results.filter((one) => one === 1).length;
      return html`<tr><td>${name}</td><td class="num ${passed === results.length ? 'ok' : 'bad'}">${passed} of ${
        results.length}</td></tr>`;
    })}</tbody></table>`;
}

export function settings(run: RecordOf<'run'>): Markup {
  const { options, program } = run.experiment.target;
  const rows = [
    ['target', [...options, ...program].join(' ')], ['file', run.file],
    ...Object.entries(run.versions),
  ];
  // What was set counts; defaults are many.
  const set = run.parameters.filter(({ source }) => source !== 'default');
  const rest = run.parameters.filter(({ source }) => source === 'default');
  return html`<table><tbody>${rows.map(([name = '', value = '']) =>
    html`<tr><td>${name}</td><td class="wide"><code>${value}</code></td></tr>`)}</tbody></table>
    ${set.length === 0 ? undefined : html`<h3>Parameters that were set</h3>${parameterTable(set)}`}
    ${rest.length === 0 ? undefined : html`<details><summary>${counted(rest.length, 'parameter')} with default
      values</summary>
      ${parameterTable(rest)}</details>`}
    <details><summary>Experiment file</summary><pre>${run.text}</pre></details>`;
}

function parameterTable(list: RecordOf<'run'>['parameters']): Markup {
  return html`<table class="parameters"><tbody>${list.map(({ name, value, source }) =>
    html`<tr><td><code>${name}</code></td>
    <td class="wide"><code>${typeof value === 'string' ? value : JSON.stringify(value)}</code></td><td>${source}</td>
    </tr>`)}</tbody></table>`;
}
