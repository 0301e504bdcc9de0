/** Fault `load`: processes that compute, and memory that is in use, on a host for a time. */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultAction, FaultMachine, FaultModule } from '@stci/interface';
import { atRoot, type VictimOf } from './victims.js';

const PROCESSES_MAX = 128;
const MEMORY_MAX = 2 ** 40;

type Spawn = Extract<FaultAction, { readonly type: 'spawn' }>;

const BUSY = 'while :; do :; done';
/** The last command keeps what it reads until the first one ends, which it does not. */
const holding = (bytes: number): string => `{ head -c ${bytes} /dev/zero; sleep 1000000; } | tail -c ${bytes}`;

const module: FaultModule = {
  victims: ['host'],
  undoes: true,
  args: {
    cpu: { type: 'int', default: 0, min: 0, max: PROCESSES_MAX, help: 'Processes that compute without a pause.' },
    memory: {
      type: 'size', default: 0, min: 0, max: MEMORY_MAX,
      help: 'Memory that is filled and kept. Where there is less, the system may end other processes.cpumemorya load '
    + 'of nothing is none: give cpu, memory or '
    + 'bothhostcpumemoryspawnsh-ccpumemoryinjectundoundoenddonefailedundoneinjectedload1.0.0Load on a host for '
    + 'a time: processes that compute, memory that is in use. The processes end with the fault, and with their '
    + 'agent.',
  params: {},
  query: () => accept(50),
  create: () => module,
});
