/** What is checked of a session's parameters before anything is started. */

import { StciError, type HostSpec, type Params } from '@stci/interface';
import { LOCAL } from '../boot/agent-launcher.js';
import { notifierFor, topologyFor } from '../detector/selected.js';
import type { ServiceScope } from '../service/contracts.js';

/** Throws StciError if these hosts cannot have the overlay that is asked for. */
export function checkOverlay(scope: ServiceScope, params: Params, hosts: readonly HostSpec[]): void {
  if (params.string('overlay.topology') === '' || scope.launchMethod(hosts) === LOCAL) return;
  if (params.list('bootcom.ws.interface').length > 0) return;
  const text = 'The agents of an overlay on several machines connect to each other, and bootcom.ws.interface names '
    + 'no interface to listen on. Set it, for example --mca bootcom.ws.interface=eth0, or run without --overlay.';
  throw new StciError('STCI_PARAM_INVALID', text, { data: { name: 'bootcom.ws.interface' } });
}

/**
 * Throws StciError, before anything is started, for parameters that the overlay, a detector or a notifier refuses in a
 * session of so many hosts; `mayGrow`: it may get more. Whoever notices that later cannot tell the user any more.
 */
export function checkFailureParts(scope: ServiceScope, params: Params, hosts: number, mayGrow: boolean): void {
  const overlay = params.string('overlay.topology');
  const topologyOf = (text: string): unknown => text === '' ? undefined : scope.topologyOf(text, hosts + 1);
  const named = <T>(param: string, value: string, check: () => T): T => blaming(params, param, value, check);
  named('overlay.topology', overlay, () => topologyOf(overlay));
  for (const detector of scope.detectors()) {
    const { name, module, isNamed } = detector;
    const notifier = notifierFor(detector, overlay);
    const { topology } = named(`detector.${name}.notifier`, notifier, () => scope.notifier(notifier));
    named(`notifier.${notifier}.topology`, topology, () => topologyOf(topology));
    const problem = isNamed && !mayGrow ? module.problemFor?.(hosts) : undefined;
    if (problem !== undefined) throw new StciError('STCI_PARAM_INVALID', problem);
    if (isNamed) named(`detector.${name}.topology`, module.topology, () => topologyOf(topologyFor(module, overlay)));
  }
}

/** What `check` throws is the fault of this parameter. */
function blaming<T>(params: Params, param: string, value: string, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    const { source, origin } = params.entries().find(({ name }) => name === param) ?? {};
    const where = origin === undefined ? '' : `${source} (${origin}): `;
    const text = `${where}${param} = '${value}': ${thrown.message}`;
    throw new StciError(thrown.code, text, { data: thrown.data, cause: thrown });
  }
}
