/** `stci top`: sessions and their jobs, drawn anew each second over the whole terminal. */

import { cut } from '@stci/core';
import { StciError, printable } from '@stci/interface';
import { printError, printOut } from '../process/print.js';
import { inForeground } from '../run/terminal/stdin-pump.js';
import { chosenSession, readSessions, sessionsText, type SessionRow } from './ps.js';
import { openSessions, sessionFlags, StciCommand } from './session-command.js';

const PERIOD_MS = 1000;
/** Size of a terminal that does not say. */
const [ROWS, COLUMNS] = [24, 80];
const HOME = '\x1b[H';
const ERASE_LINE = '\x1b[K';
const ERASE_BELOW = '\x1b[J';
const CTRL_C = '\x03';
const CTRL_Z = '\x1a';

export class TopCommand extends StciCommand {
  static override readonly summary = 'sessions and their jobs, live, until q or Ctrl-C';
  static override readonly synopsis = '[--session NAME]';
  static override readonly page = 'sessions.md';
  static override readonly details = `
Needs a terminal; 'stci ps' prints once. It ends with the last of the sessions.
`;

  static override flags = sessionFlags;

  async run(): Promise<number> {
    const { flags } = await this.parse(TopCommand);
    checkTerminal();
    const sessions = await openSessions(flags);
    const { clock } = sessions.platform;
    const only = chosenSession(sessions, flags.session);
    const read = (): Promise<readonly SessionRow[]> => readSessions(sessions, only, false);
    let rows = await read();
    if (isOver(rows)) {
      const gone = rows.map(({ name, problem }) => `${name}: ${problem}. `).join('');
      throw new StciError('STCI_SESSION_UNKNOWN', `${gone}There is no session. 'stci start' starts one.`);
    }
    let isInterrupted = false;
    let wake = (): void => undefined;
    const end = (): void => {
      isInterrupted = true;
      wake();
    };
    process.once('SIGINT', end).once('SIGTERM', end);
    process.stdout.on('resize', () => wake());
    const unwatch = watchKeys(end);
    try {
      while (!isInterrupted && !isOver(rows)) {
        draw(sessionsText(rows, clock.wallMs(), true));
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, PERIOD_MS);
        });
        if (!isInterrupted) rows = await read();
      }
    } finally {
      unwatch();
    }
    if (!isInterrupted) {
      printError(only === undefined ? 'stci: no session is left\n' : `stci: session ${only} has ended\n`);
    }
    return 0;
  }
}

function checkTerminal(): void {
  const once = "'stci ps' prints once.";
  if (!process.stdout.isTTY) {
    throw new StciError('STCI_USAGE', `stci top needs a terminal as its standard output. ${once}`);
  }
  if (process.env['TERM'] === 'dumb') {
    throw new StciError('STCI_USAGE', `stci top needs a terminal that can be drawn on, and TERM is dumb. ${once}`);
  }
}

/** `q` and Ctrl-C end it, and nothing that is typed is shown. Returns what puts the terminal back. */
function watchKeys(end: () => void): () => void {
  const { stdin } = process;
  if (!stdin.isTTY || !inForeground()) return () => undefined;
  const onKeys = (keys: Buffer): void => {
    if (keys.includes('q') || keys.includes(CTRL_C)) return end();
    if (!keys.includes(CTRL_Z)) return;
    stdin.setRawMode(false);
    process.kill(process.pid, 'SIGTSTP');
  };
  const onContinue = (): void => {
    if (inForeground()) stdin.setRawMode(true);
  };
  stdin.setRawMode(true).on('data', onKeys);
  process.on('SIGCONT', onContinue);
  return () => {
    process.off('SIGCONT', onContinue);
    stdin.off('data', onKeys).pause();
    stdin.setRawMode(false);
  };
}

function isOver(rows: readonly SessionRow[]): boolean {
  return rows.every(({ isGone }) => isGone);
}

/** Lines from the terminal's first one, each cut to its width; those below its height are not shown. */
function draw(text: string): void {
  const { rows, columns } = process.stdout;
  // The last column stays free: what erases the rest of a full line would erase its end.
  const lines = text.trimEnd().split('\n').slice(0, (rows || ROWS) - 1)
    .map((line) => `${cut(printable(line), (columns || COLUMNS) - 1)}${ERASE_LINE}\n`);
  printOut('', `${HOME}${lines.join('')}${ERASE_BELOW}`);
}
