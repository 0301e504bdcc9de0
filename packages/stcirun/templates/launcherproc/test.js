/** What every launcherproc promises: with real processes on this machine, and in simulation. */

import { launcherProcSuites } from '@stci/compliance/launcherproc';
import { component } from './index.js';

launcherProcSuites(component, [
  { label: 'default' },
  // The simulation has no programs but agents.
  { label: 'by env', params: { prefix: 'env' }, simulated: false },
]);
