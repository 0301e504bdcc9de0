/** One repeat on its time axis: the job, and a lane for each victim, from the fault to its detection and recovery. */

import { repeatName } from '../experiment/names.js';
import type { InjectionMeasures, RepeatSummary } from '../judge/contracts.js';
import type { RepeatView } from '../judge/repeat-view.js';
import { axisOf, counted, duration, px, type Axis } from './format.js';
import { gridOf } from './distribution.js';
import { cut, html, svg, type Markup } from './markup.js';

const LANES_MAX = 24;
const MARKS_MAX = 200;
const WIDTH = 1040;
const LEFT = 190;
const RIGHT = 1020;
const LANE = 26;
const TOP = 6;

/** `summary` of the same repeat as `view`. */
export function timeline(view: RepeatView, summary: RepeatSummary): Markup {
  const made = summary.injections.filter(({ injectedMs }) => injectedMs !== undefined)
    .sort((a, b) => (a.injectedMs ?? 0) - (b.injectedMs ?? 0));
  const lanes = made.slice(0, LANES_MAX);
  // Clocks that are wrong must not stretch the axis: it is the repeat's.
  const zeroMs = summary.startMs;
  const axis = axisOf(0, Math.max(1, summary.endMs - zeroMs), LEFT, RIGHT, false);
  const height = TOP + (lanes.length + 1) * LANE + 24;
  const left = made.length - lanes.length;
  return html`<figure class="timeline"><svg viewBox="0 0 ${WIDTH} ${height}" role="img"
    aria-label="Timeline of ${repeatName(summary)}">${gridOf(axis, TOP, height - 24)}${
      jobLane(view, summary, axis)}${lanes.map((one, index) =>
      lane(one, axis, zeroMs, summary.endMs, TOP + (index + 1) * LANE))}</svg>${left === 0 ? undefined
      : html`<figcaption>${counted(left, 'more victim')}: see injections.csv.</figcaption>`}</figure>`;
}

function inside(axis: Axis, ms: number): number {
  return Math.min(RIGHT, Math.max(LEFT, axis.at(ms)));
}

function band(className: string, axis: Axis, fromMs: number, toMs: number, top: number, inset = 4): Markup {
  const from = inside(axis, fromMs);
  return svg`<rect class="${className}" x="${px(from)}" y="${top + inset}" width="${
    px(Math.max(0.5, inside(axis, toMs) - from))}" height="${LANE - 2 * inset}" rx="2"/>`;
}

function jobLane(view: RepeatView, summary: RepeatSummary, axis: Axis): Markup {
  const endMs = summary.endMs - summary.startMs;
  const ending = view.events.find(({ event }) => event.type === 'ending')?.wallMs;
  const marks = view.events.flatMap(({ event, wallMs }) =>
    (event.type === 'mark' ? [{ name: event.name, ms: wallMs - summary.startMs }] : [])).slice(0, MARKS_MAX);
  return svg`<text x="0" y="${TOP + 17}">job</text>${band('job', axis, 0, endMs, TOP)}${ending === undefined
    ? undefined : band('ending', axis, ending - summary.startMs, endMs, TOP)}${marks.map(({ name, ms }) =>
    svg`<line class="m-mark" x1="${px(inside(axis, ms))}" x2="${px(inside(axis, ms))}" y1="${TOP + 6}"
      y2="${TOP + LANE - 6}"><title>mark ${name}, ${duration(ms)}</title></line>`)}`;
}

function lane(one: InjectionMeasures, axis: Axis, zeroMs: number, endMs: number, top: number): Markup {
  const at = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms - zeroMs);
  const injected = at(one.injectedMs) ?? 0;
  const [undone, suspected, detected, notified, recovered] =
    [one.undoneMs, one.suspectedMs, one.detectedMs, one.notifiedMs, one.recoveredMs].map(at);
  const lastMs = endMs - zeroMs;
  const middle = top + LANE / 2;
  const label = one.victimName.startsWith(one.kind) ? one.victimName : `${one.kind} ${one.victimName}`;
  const seen = detected ?? (undone === undefined ? lastMs : undefined);
  return svg`<g><title>${titleOf(one)}</title><text x="0" y="${middle + 4}">${cut(label, 29)}</text>
    <rect class="lane" x="${LEFT}" y="${top + 4}" width="${RIGHT - LEFT}" height="${LANE - 8}" rx="2"/>
    ${undone === undefined ? undefined : band('force', axis, injected, undone, top, 5)}
    ${seen === undefined ? undefined : band('unseen', axis, injected, seen, top)}
    ${detected === undefined ? undefined
      : band('down', axis, detected, recovered ?? Math.max(undone ?? lastMs, detected), top)}
    ${marker('m-fault', inside(axis, injected), middle, 'M-5 -6h10l-5 11z')}
    ${suspected === undefined ? undefined : marker('m-doubt', inside(axis, suspected), middle, 'M-3 -3h6v6h-6z')}
    ${detected === undefined ? undefined : marker('m-seen', inside(axis, detected), middle, 'M0 -6l5 6l-5 6l-5 -6z')}
    ${notified === undefined ? undefined : svg`<line class="m-told" x1="${px(inside(axis, notified))}" x2="${
      px(inside(axis, notified))}" y1="${top + 3}" y2="${top + LANE - 3}"/>`}
    ${recovered === undefined ? undefined : svg`<circle class="m-back" cx="${px(inside(axis, recovered))}"
      cy="${middle}" r="4.6"/>`}${caption(one, axis, [injected, undone, suspected, detected, notified, recovered],
        middle)}</g>`;
}

function marker(className: string, x: number, y: number, path: string): Markup {
  return svg`<path class="${className}" transform="translate(${px(x)} ${px(y)})" d="${path}"/>`;
}

/** Beside the last marker, on the side that has room. */
function caption(
  one: InjectionMeasures, axis: Axis, times: readonly (number | undefined)[], middle: number,
): Markup {
  const known = times.filter((time) => time !== undefined);
  const parts = [
    one.detectionMs === undefined ? undefined : `detected after ${duration(one.detectionMs)}`,
    one.recoveryMs === undefined ? undefined : `recovered after ${duration(one.recoveryMs)}`,
  ].filter((part) => part !== undefined);
  const text = parts.length === 0 ? one.suspectedMs === undefined ? 'not detected' : 'suspected only' :
    parts.join(', ');
  const x = inside(axis, Math.max(...known));
  const first = inside(axis, Math.min(...known));
  const isRoom = RIGHT - x > 7 * text.length + 10;
  return svg`<text class="small${isRoom ? '' : ' end'}" x="${px(isRoom ? x + 10 : first - 10)}" y="${
    middle + 4}">${text}</text>`;
}

function titleOf(one: InjectionMeasures): string {
  const said = [
    `${one.name}: ${one.kind}, ${one.victimName}`,
    one.detector === undefined ? undefined : `detector ${one.detector}`,
    `detection ${duration(one.detectionMs)} ± ${duration(one.errorMs)}`,
    `notification ${duration(one.notificationMs)}`, `recovery ${duration(one.recoveryMs)}`,
  ];
  return said.filter((part) => part !== undefined).join('; ');
}

const KEYS: readonly (readonly [string, Markup])[] = [
  ['fault', svg`<path class="m-fault" transform="translate(8 7)" d="M-5 -6h10l-5 11z"/>`],
  ['in force until undone', svg`<rect class="force" x="1" y="2" width="14" height="10"/>`],
  ['not yet detected', svg`<rect class="unseen" y="1" width="16" height="12"/>`],
  ['suspected', svg`<path class="m-doubt" transform="translate(8 7)" d="M-3 -3h6v6h-6z"/>`],
  ['detected', svg`<path class="m-seen" transform="translate(8 7)" d="M0 -6l5 6l-5 6l-5 -6z"/>`],
  ['all agents told', svg`<line class="m-told" x1="8" x2="8" y1="0" y2="14"/>`],
  ['detected, not recovered', svg`<rect class="down" y="1" width="16" height="12"/>`],
  ['recovered', svg`<circle class="m-back" cx="8" cy="7" r="4.6"/>`],
  ['job is being ended', svg`<rect class="ending" y="1" width="16" height="12"/>`],
];

export function timelineLegend(): Markup {
  return html`<div class="legend">${KEYS.map(([name, key]) =>
    html`<span><svg viewBox="0 0 16 14" aria-hidden="true">${key}</svg>${name}</span>`)}</div>`;
}
