/** What documents show for people to type or to copy, taken from their text. */

import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..');

/** Fenced code. */
export interface Block {
  readonly path: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** `sh`, `ts`; empty where none is written. */
  readonly language: string;
  readonly text: string;
  /** Why it cannot be run, from `<!-- not run: REASON -->` above the fence. */
  readonly notRun: string | undefined;
}

/** Every document at and below these, by path. */
export function documents(...places: readonly string[]): Map<string, string> {
  const paths = places.flatMap((place) =>
    place.endsWith('.md') ? [place] : readdirSync(join(ROOT, place), { encoding: 'utf8', recursive: true })
      .filter((name) => name.endsWith('.md')).map((name) => `${place}/${name}`));
  return new Map(paths.sort().map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

export function blocks(path: string, document: string): Block[] {
  const found: Block[] = [];
  let open: { readonly indent: string; readonly block: Omit<Block, 'text'>; readonly lines: string[] } | undefined;
  let above = '';
  for (const [index, line] of document.split('\n').entries()) {
    const fence = /^( *)```(\S*)\s*$/.exec(line);
    if (fence === null) {
      open?.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
      if (open === undefined && line.trim() !== '') above = line;
    } else if (open === undefined) {
      const notRun = /^ *<!-- not run: (.*\S) -->$/.exec(above)?.[1];
      open = { indent: fence[1] ?? '', block: { path, line: index + 2, language: fence[2] ?? '', notRun }, lines: [] };
    } else {
      found.push({ ...open.block, text: `${open.lines.join('\n')}\n` });
      open = undefined;
      above = '';
    }
  }
  return found;
}

const known = new Map<string, readonly string[]>();

/** The block's commands: lines, joined as long as the shell finds them unfinished. */
export function commands(text: string): readonly string[] {
  const found = known.get(text) ?? findCommands(text);
  known.set(text, found);
  return found;
}

function findCommands(text: string): readonly string[] {
  const found: string[] = [];
  let unfinished = '';
  for (const line of text.split('\n')) {
    const command = unfinished + line;
    if (command.trim() === '' || /^\s*#/.test(command)) continue;
    // A here-document without its end is a warning only.
    const { status, stderr } = spawnSync('bash', ['-n', '-c', command]);
    const isWhole = status === 0 && stderr.length === 0 && !command.endsWith('\\');
    if (isWhole) found.push(command);
    unfinished = isWhole ? '' : `${command}\n`;
  }
  return unfinished === '' ? found : [...found, unfinished];
}

/** What a command's comment says, `# exit code 7`, or `# exit code 0, or 197 where …`; 0 where it says nothing. */
export function expectedCodes(command: string): number[] {
  const said = /#.*\bexit codes? ((?:\d+(?:, or |, | or )?)+)/.exec(command)?.[1];
  return said === undefined ? [0] : (said.match(/\d+/g) ?? []).map(Number);
}

/** Commands in running text: code spans that begin with one of ours and have no word that stands for another. */
export function inlineCommands(document: string): string[] {
  const outside = document.replace(/^( *)```[\s\S]*?^ *```$/gm, '');
  const spans = [...outside.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] as string);
  const isCommand = (span: string): boolean => /^(stcirun|stci) /.test(span) && !PLACEHOLDER.test(span);
  return [...new Set(spans.filter((span) => isCommand(span) && !TOPICS.includes(span)))];
}

/** Names of several commands, one that needs a terminal, and those that are named without arguments or a session. */
const TOPICS = [
  'stci hosts', 'stci top', 'stci attach', 'stci wait', 'stci kill', 'stci add-hosts', 'stci remove-hosts',
  'stci topology', 'stci metrics', 'stci info --held', 'stci plugin check', 'stci plugin new', 'stcirun --client',
];
/** `…`, `...`, `[options]`, `LIST`: such a span shows a form, not a command. */
const PLACEHOLDER = /…|\.\.\.|\[[A-Za-z ]+\]|\[[A-Z]|(?:^|[\s:=])[A-Z]+(?:$|[\s:=])/;

/** What users read, and the fenced code in it. */
export const USER = documents('README.md', 'docs', 'examples');
export const shown = [...USER].flatMap(([path, text]) => blocks(path, text));
const isCommand = (block: Block): boolean => ['sh', 'bash', 'console', 'shell'].includes(block.language);
export const scripts = shown.filter(isCommand);

/** Documents whose commands depend on who types them: the first ones, places of sessions, logins, hosts, namespaces. */
export const OF_USERS: ReadonlySet<string> = new Set([
  'README.md', 'docs/cli.md', 'docs/sessions.md', 'docs/slurm.md', 'docs/ssh.md', 'docs/test-hosts.md',
  'examples/unshare/README.md',
]);
export const isOfUsers = (path: string): boolean => OF_USERS.has(path);
