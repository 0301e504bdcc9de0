/**
 * The commands of checks. Each is guarded, as a rank is: it and what it has started end with finject, however that
 * ends. Its time is bounded, and what is kept of its output.
 */

import type { Check } from '@stci/finject/experiment';
import type { Platform, Process, ProcessEnd } from '@stci/interface';

type CommandCheck = Pick<Extract<Check, { readonly type: 'command' }>, 'command' | 'timeoutMs'>;

/** Bound on what is kept of a command's output. */
const SAID_CHARS_MAX = 4000;
/** What it has started may keep its output open: of that nothing is waited for longer. */
const OUTPUT_MS = 200;

export class CheckCommands {
  readonly #platform: Pick<Platform, 'clock' | 'processes'>;
  readonly #running = new Set<Process>();

  constructor(platform: Pick<Platform, 'clock' | 'processes'>) {
    this.#platform = platform;
  }

  /** `done` is called once, with whether it ended with 0, and what it said. */
  run({ command, timeoutMs }: CommandCheck, done: (isPassed: boolean, text: string) => void): void {
    const [program = '', ...args] = command;
    const { clock, processes } = this.#platform;
    const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']));
    let said = '';
    let openOutputs = 2;
    let ended: ProcessEnd | undefined;
    let isLate = false;
    let isTold = false;
    const tell = (isPassed: boolean, text: string): void => {
      if (isTold) return;
      isTold = true;
      limit.cancel();
      this.#running.delete(running);
      done(isPassed, text);
    };
    const tellEnd = (): void => {
      if (ended === undefined) return;
      const by = ended.signal === undefined ? `ended with ${ended.status ?? 0}` : `ended by ${ended.signal}`;
      const end = isLate ? `it did not end within ${timeoutMs} ms` : by;
      tell(!isLate && ended.status === 0, `${end}${said === '' ? '' : `: ${said.trimEnd()}`}`);
    };
    const spec = {
      program, args, env, stdin: 'null', stdout: 'pipe', stderr: 'pipe', lifetime: 'guarded',
    } as const;
    const running = processes.spawn(spec, {
      onError: ({ message }) => tell(false, message),
      onOutput: (_stream, chunk) => {
        if (said.length < SAID_CHARS_MAX) said = (said + Buffer.from(chunk).toString()).slice(0, SAID_CHARS_MAX);
      },
      onOutputEnd: () => {
        openOutputs -= 1;
        if (openOutputs === 0) tellEnd();
      },
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onExit: (end) => {
        ended = end;
        if (openOutputs === 0) tellEnd();
        else clock.after(OUTPUT_MS, tellEnd);
      },
    });
    const limit = clock.after(timeoutMs, () => {
      isLate = true;
      running.signal('SIGKILL', 'group');
    });
    this.#running.add(running);
    running.readable(true);
  }

  /** Ends the commands that still run. */
  end(): void {
    for (const running of this.#running) running.signal('SIGKILL', 'group');
  }
}
