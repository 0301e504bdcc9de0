/**
 * stci-client: a rank of a job takes part in it from a shell, or from a program of any language that runs commands. One
 * call connects, is answered, and ends; docs/client-languages.md describes all.
 */

import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, findAgent } from './agent.js';
import { RUN, type Outcome, type Place } from './calls.js';
import { ClientError } from '../errors.js';
import { CommandError, EXIT, callError } from './errors.js';
import { help, parse, type Words } from './words.js';

async function run(words: Words): Promise<Outcome> {
  const { name } = words;
  if (name === 'help') return { out: help(words.of) };
  if (name === 'include-dir') return { out: `${join(__dirname, '../include')}\n` };
  const found = findAgent(process.env);
  if (found === undefined) return RUN[name](words, { agent: undefined, rank: 0, size: 1 });
  const agent = new Agent(found.path);
  const { rank, size } = (await agent.hello(found.token)) as unknown as Place;
  const outcome = await RUN[name](words, { agent, rank, size });
  agent.close();
  return outcome;
}

/** Writes all of it, whatever standard output is. */
function write(fd: number, out: Uint8Array | string): void {
  const bytes = Buffer.from(out as Uint8Array);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

async function main(): Promise<number> {
  try {
    const { out = '', exitCode = EXIT.done } = await run(parse(process.argv.slice(2)));
    write(1, out);
    return exitCode;
  } catch (thrown) {
    const error = thrown instanceof ClientError ? callError(thrown.code, thrown.message) : thrown;
    const isKnown = error instanceof CommandError;
    write(2, `stci-client: ${isKnown ? error.message : `cannot write: ${String(error)}`}\n`);
    return isKnown ? error.exitCode : EXIT.failed;
  }
}

void main().then((code) => process.exit(code));
