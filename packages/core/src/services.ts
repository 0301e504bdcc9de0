/** The services that agents have, by their declarations; the code of each is loaded when it is needed. */

import type { Registry } from '@stci/registry';
import { createComposition as compose } from './assembly/compose.js';
import type { Composition, PluginHooks } from './assembly/composition.js';
import { watchService } from './failure/service.js';
import { faultService } from './injection/service.js';
import { overlayService } from './overlay/service.js';
import { pmiService } from './pmi/service.js';
import { programService } from './programs/service.js';
import { metricService } from './scrape/service.js';
import type { Service } from './service/contracts.js';
import { partService } from './service/part-service.js';

/** With these the rows of services are known to the compiler. */
export type { FaultSiteMessages } from './injection/messages.js';
export type { ProgramMessages } from './programs/messages.js';
export type { PmiMessages } from './pmi/messages.js';
export type { MetricMessages } from './scrape/messages.js';
export type { PartMessages } from './service/messages.js';

export const services: readonly Service[] = [
  faultService, programService, partService, pmiService, metricService, overlayService, watchService,
];

export function createComposition(registry: Registry, plugins: PluginHooks = {}): Composition {
  return compose(registry, services, plugins);
}
