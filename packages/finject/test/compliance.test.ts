/** The kinds of faults of finject keep what the contract promises. */

import { faultComponents } from '@stci/finject';
import { faultCompliance, type FaultCase, type FaultComponent } from '@stci/testkit/compliance';

/** Arguments of kinds whose defaults are no order. */
const CASES: Readonly<Record<string, readonly FaultCase[]>> = {
  load: [{ label: 'processes', args: { cpu: 2 } }, { label: 'both', args: { cpu: 1, memory: 4096 } }],
  network: [{ label: 'a cut', args: {} }, { label: 'loss', args: { mode: 'loss', spare: ['22'] } }],
};

for (const component of faultComponents) faultCompliance(component as FaultComponent, CASES[component.name]);
