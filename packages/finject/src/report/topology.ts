/** The boot tree of a run with its victims; of many hosts a field of squares, in the order of their positions. */

import { depthOf, parentOf } from '../experiment/boot-tree.js';
import type { TargetShape } from '../experiment/contracts.js';
import type { RepeatSummary } from '../judge/contracts.js';
import { victimHosts } from '../judge/victims.js';
import { counted, px } from './format.js';
import { cut, html, svg, type Markup } from './markup.js';

const TREE_MAX = 128;
const FIELD_MAX = 10_000;
const LABELS_MAX = 24;
const WIDTH = 1040;
const LEVEL = 62;

interface Hits {
  /** Injections by host, and by lower position of a link. */
  readonly hosts: ReadonlyMap<number, number>;
  readonly links: ReadonlyMap<string, number>;
}

export function topologyChart(shape: TargetShape, repeats: readonly RepeatSummary[]): Markup | undefined {
  if (shape.hosts.length === 0) return undefined;
  const hits = hitsOf(shape, repeats);
  return shape.hosts.length <= TREE_MAX ? tree(shape, hits) : field(shape, hits);
}

function hitsOf(shape: TargetShape, repeats: readonly RepeatSummary[]): Hits {
  const hosts = new Map<number, number>();
  const links = new Map<string, number>();
  for (const { victim, injectedMs } of repeats.flatMap(({ injections }) => injections)) {
    if (injectedMs === undefined) continue;
    if (victim.kind === 'link') {
      const key = linkKey(victim.ends[0], victim.ends[1]);
      links.set(key, (links.get(key) ?? 0) + 1);
      continue;
    }
    for (const host of victimHosts(victim, shape)) hosts.set(host, (hosts.get(host) ?? 0) + 1);
  }
  return { hosts, links };
}

function linkKey(a: number, b: number): string {
  return `${Math.min(a, b)}-${Math.max(a, b)}`;
}

/** Deeper where there were more. */
function strength(count: number, most: number): string {
  return px(0.35 + (0.65 * count) / Math.max(1, most));
}

function tree(shape: TargetShape, { hosts, links }: Hits): Markup {
  const size = shape.hosts.length + 1;
  const parent = (position: number): number => parentOf(position, shape);
  const children = Array.from({ length: size }, (): number[] => []);
  for (let position = 1; position < size; position++) children[parent(position)]?.push(position);
  const x = new Array<number>(size).fill(0);
  const depth = new Array<number>(size).fill(0);
  for (let position = 1; position < size; position++) depth[position] = depthOf(position, shape);
  let leaves = 0;
  const place = (position: number): number => {
    const own = (children[position] ?? []).map(place);
    const at = own.length === 0 ? leaves++ : ((own[0] ?? 0) + (own.at(-1) ?? 0)) / 2;
    x[position] = at;
    return at;
  };
  place(0);
  const scale = (WIDTH - 60) / Math.max(1, leaves - 1);
  const point = (position: number): readonly [number, number] =>
    [leaves === 1 ? WIDTH / 2 : 30 + (x[position] ?? 0) * scale, 24 + (depth[position] ?? 0) * LEVEL];
  const radius = Math.max(3, Math.min(9, scale / 3));
  const most = Math.max(1, ...hosts.values());
  const positions = Array.from({ length: size }, (_, position) => position);
  const height = 24 + (Math.max(...depth) * LEVEL) + 34;
  return html`<figure class="topology"><svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Boot tree with
    victims">
    ${positions.slice(1).map((position) => edge(point(parent(position)), point(position),
      links.get(linkKey(parent(position), position))))}
    ${otherLinks(links, parent, size).map(([a, b, count]) => edge(point(a), point(b), count))}
    ${positions.map((position) => node(point(position), radius, {
      name: position === 0 ? 'controller' : shape.hosts[position - 1] ?? '', isRoot: position === 0,
      isInner: children[position]?.length !== 0,
      count: hosts.get(position - 1) ?? 0, most, isLabelled: position === 0 || leaves <= LABELS_MAX,
    }))}</svg>${topologyCaption(shape, hosts, links)}</figure>`;
}

function edge([x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number], hit: number | undefined):
  Markup {
  const bend = (y1 + y2) / 2;
  const title = hit === undefined ? undefined : svg`<title>${counted(hit, 'injection')} at this link</title>`;
  return svg`<path class="edge${hit === undefined ? '' : ' hit'}" d="M${px(x1)} ${px(y1)}C${px(x1)} ${px(bend)} ${
    px(x2)} ${px(bend)} ${px(x2)} ${px(y2)}">${title}</path>`;
}

/** Links that are none of the tree's. */
function otherLinks(
  links: ReadonlyMap<string, number>, parent: (position: number) => number, size: number,
): readonly (readonly [number, number, number])[] {
  return [...links].flatMap(([key, count]) => {
    const [a = 0, b = 0] = key.split('-').map(Number);
    return b >= size || parent(b) === a ? [] : [[a, b, count] as const];
  });
}

function node(
  [x, y]: readonly [number, number], radius: number,
  { name, isRoot, isInner, count, most, isLabelled }: {
    readonly name: string; readonly isRoot: boolean; readonly isInner: boolean; readonly count: number; readonly most:
      number;
    readonly isLabelled: boolean;
  },
): Markup {
  const title = isRoot ? 'controller' : `${name}: ${counted(count, 'injection')}`;
  const text = `${cut(name, 12)}${count > 0 ? ` ×${count}` : ''}`;
  return svg`<g><title>${title}</title><circle class="node" cx="${px(x)}" cy="${px(y)}" r="${px(radius)}"/>${
    isRoot || count > 0 ? svg`<circle class="node ${isRoot ? 'root' : 'hit'}" cx="${px(x)}" cy="${px(y)}" r="${
      px(radius)}" fill-opacity="${isRoot ? 1 : strength(count, most)}"/>` : undefined}${isLabelled
      ? isInner ? svg`<text class="small" x="${px(x + radius + 5)}" y="${px(y + 4)}">${text}</text>`
        : svg`<text class="small middle" x="${px(x)}" y="${px(y + radius + 14)}">${text}</text>` : undefined}</g>`;
}

/** Only hosts that were hit have an element of their own: the others are one rectangle in the background. */
function field(shape: TargetShape, { hosts, links }: Hits): Markup {
  const shown = Math.min(shape.hosts.length, FIELD_MAX);
  const columns = Math.min(shown, Math.max(64, Math.ceil(Math.sqrt(shown * 4))));
  const side = WIDTH / columns;
  const rows = Math.ceil(shown / columns);
  const most = Math.max(1, ...hosts.values());
  const lastRow = shown - (rows - 1) * columns;
  return html`<figure class="topology"><svg viewBox="0 0 ${WIDTH} ${px(rows * side)}" role="img"
    aria-label="Hosts with victims">${rows > 1 ? svg`<rect class="cell" x="0" y="0" width="${WIDTH}" height="${
      px((rows - 1) * side)}"/>` : undefined}<rect class="cell" x="0" y="${px((rows - 1) * side)}" width="${
      px(lastRow * side)}" height="${px(side)}"/>${[...hosts].filter(([host]) => host < shown).map(([host, count]) =>
      svg`<rect class="cell hit" x="${px((host % columns) * side)}" y="${px(Math.floor(host / columns) * side)}"
        width="${px(side * 0.9)}" height="${px(side * 0.9)}" fill-opacity="${strength(count, most)}"><title>${
        shape.hosts[host]}: ${counted(count, 'injection')}</title></rect>`)}</svg>${
    topologyCaption(shape, hosts, links, columns)}</figure>`;
}

function topologyCaption(
  shape: TargetShape, hosts: ReadonlyMap<number, number>, links: ReadonlyMap<string, number>, columns?: number,
): Markup {
  const hit = `${hosts.size} of ${counted(shape.hosts.length, 'host')}`;
  const isCapped = shape.hosts.length > FIELD_MAX && columns !== undefined;
  const kind = shape.arity === undefined ? '' : `, arity ${shape.arity}`;
  return html`<figcaption>Boot tree${kind}; ${hit} hit${links.size === 0 ? '' : `,
    ${counted(links.size, 'link')}`
  }; the deeper the red, the more often.${columns === undefined ? '' : ` Each square is a host, in order, ${columns} a
    row.`
  }${isCapped ? ` The first ${FIELD_MAX} are drawn.` : ''}</figcaption>`;
}
