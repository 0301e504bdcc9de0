/**
 * The report: one HTML page that needs nothing else, neither network nor scripts. Its policy (CSP) permits a style
 * sheet and no more, so that nothing which a target wrote can be run or fetched.
 */

import { repeatName } from '../experiment/names.js';
import type { RepeatSummary } from '../judge/contracts.js';
import { drawnRepeats } from '../judge/drawn-repeats.js';
import { linesOf, repeatsOf, runOf, type RepeatView } from '../judge/repeat-view.js';
import { MEASURES } from '../judge/summary.js';
import { comparisonSection } from './comparison.js';
import { distributionChart } from './distribution.js';
import { counted, dateTime, duration } from './format.js';
import { groupsOf, runLabels, type Group, type ReportRun } from './groups.js';
import { Markup, cut, html } from './markup.js';
import { STYLE } from './style.js';
import {
  checkTable, coverageTable, figuresLabel, figuresTable, injectionTable, outcomeName, outcomeTable, problemList,
    settings,
} from './tables.js';
import { timeline, timelineLegend } from './timeline.js';
import { topologyChart } from './topology.js';

const OPEN_MAX = 3;
const OUTPUT_LINES = 30;

/** Page of at least one run; several are compared. The text of a whole file. */
export function reportPage(runs: readonly ReportRun[]): string {
  const groups = groupsOf(runs);
  const labels = runLabels(runs);
  const title = [...new Set(runs.map(({ summary }) => summary.name))].join(', ');
  return pageOf(`${title}: fault injection`, html`${safely(() => header(runs, title))}
    ${runs.map((run, index) => safely(() => alerts(run, runs.length > 1 ? labels[index] ?? '' : '')))}
    ${safely(() => tiles(runs, groups))}
    <h2 id="outcomes">Outcomes</h2>${safely(() =>
      html`${outcomeTable(groups)}${checkTable(groups.flatMap(({ repeats }) => repeats))}`)}
    <h2 id="figures">Figures</h2>${safely(() => figuresTable(groups))}
    <h2 id="distributions">Distributions</h2>${safely(() => distributions(groups))}
    ${groups.length > 1 ? html`<h2 id="comparison">Comparison</h2>${safely(() => comparisonSection(groups))}` :
      undefined}
    ${runs.map((run, index) => safely(() => runSections(run, runs.length > 1 ? labels[index] ?? '' : '')))}
    <footer>Made by finject from history.jsonl. injections.csv, repeats.csv and summary.json beside it have all numbers.
    </footer>`);
}

const POLICY = new Markup("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'");

/** A page around a body. */
export function pageOf(title: string, body: Markup): string {
  return `<!DOCTYPE html>\n${html`<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer">
<title>${title}</title><style>`.text}${STYLE}${html`</style></head><body><main>${body}</main></body></html>`.text}\n`;
}

function header(runs: readonly ReportRun[], title: string): Markup {
  const isPassed = runs.every(({ summary }) => summary.isPassed);
  const isGolden = runs.every(({ summary }) => summary.isGolden);
  const description = runs.length === 1 ? runOf(runs[0]?.history ?? EMPTY)?.experiment.description : undefined;
  const starts = runs.flatMap(({ history }) => history.records[0]?.wallMs ?? []);
  const isCutOff = runs.some(({ summary }) => summary.isCutOff);
  const verdict = isPassed ? 'passed' : isCutOff ? 'incomplete' : 'not passed';
  return html`<header><h1>${title} <span class="badge ${isPassed ? 'ok' : 'bad'}">${verdict}</span></h1>
    ${description === undefined || description === '' ? undefined : html`<p>${description}</p>`}
    <p class="sub">${isGolden ? 'Golden run, without faults' : 'Fault injection'}, ${counted(runs.length, 'run')}, ${
      starts.length === 0 ? '' : dateTime(Math.min(...starts))}, seed ${
      [...new Set(runs.map(({ summary }) => summary.seed))].join(', ')}</p>
    <nav><a href="#outcomes">Outcomes</a><a href="#figures">Figures</a><a href="#distributions">Distributions</a>
    <a href="#timelines">Timelines</a><a href="#topology">Topology</a><a href="#coverage">Coverage</a>
    <a href="#injections">Injections</a><a href="#settings">Settings</a></nav></header>`;
}

/** A part of the page that a damaged record cannot give is left out, and the others are not. */
function safely(make: () => Markup): Markup {
  try {
    return make();
  } catch (thrown) {
    return html`<p class="bad">This cannot be shown, as the record is damaged: ${String(thrown)}</p>`;
  }
}

const EMPTY = { directory: '', records: [], isCutOff: true };

function alerts({ summary, history }: ReportRun, label: string): Markup {
  const of = label === '' ? 'This run' : `Run ${label}`;
  const ended = history.records.find((record) => record.type === 'run-end');
  const stopped = ended?.type === 'run-end' ? ended.stopped : undefined;
  return html`${summary.isCutOff ? html`<p class="alert" id="cut-off">${of} was cut off: its record has no end. What
    follows
    is what was recorded until then.</p>` : undefined}
    ${stopped === undefined ? undefined : html`<p class="alert">${of} was stopped before its end (${stopped}).</p>`}
    ${hasKind(history.records, ['link', 'partition']) ? html`<p class="alert" id="links-alone">Faults link and
    partition are of the links between agents: what programs had opened for themselves went on.</p>` : undefined}
    ${hasKind(history.records, ['network']) ? html`<p class="alert" id="programs-too">Fault network is of whole hosts:
    what programs had opened for themselves was cut, too, or lossy.</p>` : undefined}
    ${summary.isSimulated ? html`<p class="alert sim" id="simulated">${of} was simulated: times are those of a model
      of the
    network, not of machines.</p>` : undefined}`;
}

/** Whether the run has a fault of one of these kinds. */
function hasKind(records: ReportRun['history']['records'], kinds: readonly string[]): boolean {
  return records.some((record) => record.type === 'repeat'
    && record.plan.injections.some(({ kind }) => kinds.includes(kind)));
}

function tiles(runs: readonly ReportRun[], groups: readonly Group[]): Markup {
  const repeats = groups.flatMap((group) => group.repeats);
  const injections = repeats.flatMap((repeat) => repeat.injections);
  const made = injections.filter(({ injectedMs }) => injectedMs !== undefined).length;
  const passed = repeats.filter(({ isPassed }) => isPassed).length;
  const detected = injections.filter(({ detectedMs }) => detectedMs !== undefined).length;
  const overall = groups.length === 1 ? groups[0]?.figures.find(
    ({ measure, kind }) => measure === 'detection' && kind === '') : undefined;
  const hosts = Math.max(0, ...runs.map(({ history }) => runOf(history)?.shape.hosts.length ?? 0));
  const tile = (value: string, what: string): Markup => html`<div
    class="tile"><b>${value}</b><span>${what}</span></div>`;
  return html`<div class="tiles">${tile(`${passed} of ${repeats.length}`, 'repeats passed')}
    ${tile(`${made} of ${injections.length}`, 'planned victims hit')}
    ${tile(`${detected} of ${made}`, 'victims reported as failed')}
    ${overall === undefined ? undefined : tile(duration(overall.median), 'median from fault to detection')}
    ${tile(String(hosts), hosts === 1 ? 'host' : 'hosts')}</div>`;
}

function distributions(groups: readonly Group[]): Markup {
  const charts = MEASURES.flatMap((measure) => {
    const rows = groups.flatMap(({ label, figures }) => figures.filter((one) => one.measure === measure)
      .map((one) => ({ label: figuresLabel(label, one), figures: one })));
    const title = measure === 'duration' ? 'Duration of repeats' : `From fault to ${measure}`;
    return rows.length === 0 ? [] : [html`<h3>${title}</h3>${distributionChart(rows, title)}`];
  });
  return charts.length === 0 ? html`<p>Nothing was measured.</p>` : html`${charts}`;
}

function runSections({ summary, history }: ReportRun, label: string): Markup {
  const run = runOf(history);
  const problems = problemList(summary);
  const of = label === '' ? '' : `: ${label}`;
  const repeats = summary.repeats;
  return html`${problems === undefined ? undefined : html`<h2>What to look at${of}</h2>${problems}`}
    <h2 id="timelines">Timelines${of}</h2>${safely(() =>
      timelines(summary.repeats, repeatsOf(history)))}
    <h2 id="topology">Topology and victims${of}</h2>${safely(() => topologies(run, repeats))}
    <h2 id="coverage">Coverage${of}</h2>${safely(() => coverageTable(summary.coverage))}
    <h2 id="injections">Injections${of}</h2>${safely(() => injectionTable(summary))}
    <h2 id="settings">Settings${of}</h2>${run === undefined
      ? html`<p class="bad">The record's beginning is damaged: what was set is not known.</p>`
        : safely(() => settings(run))}`;
}

/** A topology for each shape that the configurations have. */
function topologies(run: ReturnType<typeof runOf>, repeats: readonly RepeatSummary[]): Markup {
  if (run === undefined) return html`<p>Not known.</p>`;
  const own = Object.entries(run.shape.configurations ?? {});
  const others = repeats.filter(({ configuration }) => run.shape.configurations?.[configuration] === undefined);
  return html`${others.length === 0 ? undefined : topologyChart(run.shape, others)}${own.map(([name, shape]) =>
    html`<h3>${name}</h3>${topologyChart(shape, repeats.filter(({ configuration }) => configuration === name))}`)}`;
}

function timelines(repeats: readonly RepeatSummary[], views: readonly RepeatView[]): Markup {
  const shown = drawnRepeats(repeats);
  const items = shown.map((repeat, index) => {
    const view = views.find(({ plan }) => plan.repeat === repeat.repeat);
    if (view === undefined) return undefined;
    return html`<details${index < OPEN_MAX ? html` open` : undefined}><summary>${
      repeatName(repeat).replace('r', 'R')}: <svg class="key" viewBox="0 0 10 10"
        aria-hidden="true"><rect class="${
      repeat.outcome}" width="10" height="10" rx="2"/></svg><b>${outcomeName(repeat.outcome)}</b>${repeat.isPassed ? ''
      : html` <b class="bad">(not passed)</b>`}<span class="note">${duration(repeat.endMs - repeat.startMs)}${
      repeat.exitCode === undefined ? '' : `, exit code ${repeat.exitCode}`}</span></summary>
      ${timeline(view, repeat)}${outputOf(view)}</details>`;
  });
  return html`${timelineLegend()}${items}${repeats.length > shown.length ? html`<p class="note">${shown.length} of ${
    repeats.length} repeats are drawn: those that did not pass first, one of each outcome, then in order.</p>` :
      undefined}`;
}

function outputOf(view: RepeatView): Markup | undefined {
  const lines = linesOf(view);
  if (lines.length === 0) return undefined;
  const shown = lines.slice(-OUTPUT_LINES).map(({ rank, line }) => `[${rank}] ${cut(line, 300)}`).join('\n');
  return html`<details><summary>Output of the target${lines.length > OUTPUT_LINES
    ? `, the last ${OUTPUT_LINES} of ${lines.length} lines` : ''}</summary><pre>${shown}</pre></details>`;
}
