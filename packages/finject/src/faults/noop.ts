/** Fault `noop`: nothing is done, at the moment of a fault. The control of an experiment. */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultAction, FaultEvent, FaultModule } from '@stci/interface';

const ACTIONS: Readonly<Partial<Record<FaultEvent['type'], readonly FaultAction[]>>> = {
  inject: [{ type: 'injected', text: 'nothing was done' }],
  undo: [{ type: 'undone' }],
};

const module: FaultModule = {
  victims: ['rank', 'agent', 'host', 'link', 'partition'],
  undoes: true,
  args: {},
  impactOf: () => 'none',
  problemOf: () => undefined,
  plan: () => [{ at: { role: 'controller', host: 0 }, body: {} }],
  open: () => ({ dueMs: undefined, on: ({ type }) => ACTIONS[type] ?? [] }),
};

export const faultNoop = defineComponent({
  framework: faultFramework,
  name: 'noop',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Nothing: the control of an experiment.',
  params: {},
  query: () => accept(50),
  create: () => module,
});
