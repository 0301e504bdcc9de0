/**
 * Detector `process`: a tool that ended badly, as the operating system says (SIGCHLD). No heartbeat and no delay; each
 * session agent sees its own tools.
 */

import { accept, builtinComponent } from '@stci/interface';
import type { Detector, DetectorModule } from '@stci/interface';
import { notifierParam } from './component.js';
import { detectorFramework } from './framework.js';

const text = 'The end of a tool is reported as soon as the operating system tells it.';

function openProcess(): Detector {
  return {
    dueMs: undefined,
    on: (event, nowMs) => {
      if (event.type !== 'tool-ended' || !event.isFailure) return [];
      const { rank, evidence, isSignal } = event;
      const cause = isSignal ? 'signalled' : 'exited';
      return [{ type: 'report', failed: { rank }, cause, evidence, suspectedMs: nowMs }];
    },
  };
}

const module: DetectorModule = {
  watches: 'tools',
  topology: '',
  metrics: {},
  promise: () => ({ detection: { minMs: 0, maxMs: 0 }, messagesPerSecond: 0, bytesPerSecond: 0, text }),
  open: openProcess,
};

export const detectorProcess = builtinComponent({
  framework: detectorFramework,
  name: 'process',
  help: 'Tools that ended with a status other than 0 or by a signal. Runs always.',
  params: { notifier: notifierParam },
  query: () => accept(90),
  create: () => module,
});
