/**
 * The text form of `stci info`: an overview; or one block per framework, one paragraph per parameter, wrapped to 100
 * columns. Only a word longer than a line, such as a path, exceeds them, so that it can be copied whole.
 */

import { wrapText } from '../config/text.js';
import type { ConfigFile, Info, InfoCandidate, InfoFramework, InfoParam, InfoWhy } from './info.js';

const COLUMNS_MAX = 100;

/** Text of several lines, ending with a line end. */
export function infoText(info: Info): string {
  const blocks = info.frameworks.map((framework) => {
    const { name, mode, version, help, params, components, why } = framework;
    return [
      ...wrap(`framework ${name} (mode ${mode}, version ${version}): ${help}`, 0, 2),
      ...(why === undefined ? [] : whyLines(name, why)),
      ...paramLines(params, 2),
      ...components.flatMap((component) => [
        ...wrap(`component ${name}:${component.name} ${component.version}: ${component.help}`, 2, 4),
        ...paramLines(component.params, 4),
        ...argLines(component.args ?? []),
      ]),
    ];
  });
  blocks.push(...info.groups.map(({ name, help, params }) => {
    return [...wrap(`group ${name}: ${help}`, 0, 2), ...paramLines(params, 2)];
  }));
  if (info.files !== undefined) blocks.unshift(fileLines(info.files));
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** A page: what there is, without help of components and parameters, and what is set. */
export function infoOverview({ files, frameworks, groups }: Info): string {
  const paramsOf = (framework: InfoFramework): InfoParam[] =>
    [...framework.params, ...framework.components.flatMap(({ params }) => params)];
  const all = [...frameworks.flatMap(paramsOf), ...groups.flatMap(({ params }) => params)];
  const set = all.filter(({ source }) => source !== 'default');
  const rows = [
    ['framework', 'parameters', 'components'],
    ...frameworks.map((framework) => {
      const { name, components } = framework;
      return [name, String(paramsOf(framework).length), components.map((component) => component.name).join(' ')];
    }),
    ...groups.map(({ name, params, help }) => [name, String(params.length), `(group) ${help}`]),
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  const blocks = [
    ...(files === undefined ? [] : [fileLines(files)]),
    rows.flatMap(([name = '', count = '', rest = '']) => {
      const columns = `${name.padEnd(width)}  ${count.padStart(10)}${rest && ' '}`.replaceAll(' ', NO_BREAK);
      return wrap(`${columns} ${rest}`.trimEnd(), 0, width + 14);
    }),
    [set.length === 0 ? 'no parameter is set' : 'parameters that are set', ...paramLines(set, 2)],
    wrap('stci info NAME shows a framework or group, FRAMEWORK:COMPONENT a component, a parameter\'s name that '
      + 'parameter, and --all everything.', 0, 0),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function fileLines(files: readonly ConfigFile[]): string[] {
  const lines = files.flatMap(({ source, path, state, reason }) => {
    return wrap(`${source}: ${path} (${reason === undefined ? state : `${state}: ${reason}`})`, 2, 4);
  });
  return ['configuration files, from high to low', ...lines];
}

function argLines(args: readonly InfoParam[]): string[] {
  return args.length === 0 ? [] : ['    arguments of each use:', ...paramLines(args, 6)];
}

/** Names aligned, `= value (type bounds; default; source)`, the help below. */
function paramLines(params: readonly InfoParam[], indent: number): string[] {
  const width = Math.max(0, ...params.map((param) => param.name.length));
  return params.flatMap((param) => [
    ...wrap(`${param.name.padEnd(width).replaceAll(' ', NO_BREAK)} = ${paramFacts(param)}`, indent, indent + width + 3),
    ...wrap(param.help, indent + 4, indent + 4),
  ]);
}

function paramFacts({ text, type, bounds, defaultText, source, origin }: InfoParam): string {
  const form = bounds === undefined ? type : `${type} ${bounds}`;
  if (source === 'default') return `${orEmpty(text)} (${form}; default)`;
  const from = origin === undefined ? source : `${source}, ${origin}`;
  return `${orEmpty(text)} (${form}; default ${orEmpty(defaultText)}; set by ${from})`;
}

function orEmpty(text: string): string {
  return text === '' ? 'empty' : text;
}

function whyLines(name: string, { list, candidates }: InfoWhy): string[] {
  const from = list.origin === undefined ? list.source : `${list.source}, ${list.origin}`;
  const allowed = list.items.length === 0 ? 'empty, all are allowed' : list.items.join(',');
  const width = Math.max(0, ...candidates.map((candidate) => candidate.name.length));
  return [
    ...wrap(`why: selection list ${name} is ${allowed} (${from})`, 2, 4),
    ...candidates.flatMap((candidate) => {
      const label = candidate.name.padEnd(width).replaceAll(' ', NO_BREAK);
      return wrap(`${label} ${candidateFacts(candidate)}`, 4, 4 + width + 1);
    }),
  ];
}

function candidateFacts({ verdict, priority, reason, chosen }: InfoCandidate): string {
  const words: string[] = [verdict];
  if (verdict === 'when made') words[0] = 'asked when an object is made';
  if (priority !== undefined) words.push(`priority ${priority}`);
  if (reason !== undefined) words.push(reason);
  return words.join(', ') + (chosen ? '  <- chosen' : '');
}

/** Represents a blank at which no line may be broken. */
const NO_BREAK = '\u0000';

function wrap(text: string, first: number, rest: number): string[] {
  return wrapText(text, COLUMNS_MAX, first, rest).map((line) => line.replaceAll(NO_BREAK, ' '));
}
