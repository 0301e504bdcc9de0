/** Output of a job to this process's standard output and error. */

import type { StreamName } from '@stci/core/iof';
import type { StciError } from '@stci/interface';
import type { OutputFacts } from '../output/sink.js';
import { outputError } from '../process/output-error.js';
import type { OutputFeed } from './output-feed.js';

const NAMES: Readonly<Record<StreamName, string>> = { stdout: 'standard output', stderr: 'standard error' };

/** Resolves when all is written, or with the error that ended it. */
export async function passOn(output: OutputFeed, facts: () => OutputFacts): Promise<StciError | undefined> {
  const release = holdStreams();
  try {
    await output.passOn(write, facts);
    return undefined;
  } catch (thrown) {
    // The stream tells of its error after the write.
    await new Promise((resolve) => setImmediate(resolve));
    return thrown as StciError;
  } finally {
    release();
  }
}

function write(stream: StreamName, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process[stream].write(bytes, (error) => {
      if (error === null || error === undefined) resolve();
      else reject(outputError(NAMES[stream], error));
    });
  });
}

/** Meanwhile an error of a stream, such as that its reader has gone, ends jobs and not this process. */
function holdStreams(): () => void {
  const ignore = (): void => undefined;
  const streams = [process.stdout, process.stderr];
  for (const stream of streams) stream.setMaxListeners(stream.getMaxListeners() + 1).on('error', ignore);
  return () => {
    for (const stream of streams) stream.off('error', ignore).setMaxListeners(stream.getMaxListeners() - 1);
  };
}
