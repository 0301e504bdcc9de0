/** The code of all services, loaded with this file: for simulations, whose time stands still while code is loaded. */

import { Arbiter } from './failure/arbiter.js';
import { arbiterCode } from './failure/arbiter-code.js';
import { watchService } from './failure/service.js';
import { code as watch } from './failure/watch-service.js';
import { code as faults } from './injection/fault-service.js';
import { faultService } from './injection/service.js';
import { code as overlay } from './overlay/overlay-service.js';
import { overlayService } from './overlay/service.js';
import { code as pmi } from './pmi/job-pmi.js';
import { PmiHost } from './pmi/pmi-host.js';
import { hostCode } from './pmi/pmi-port.js';
import { pmi1Code } from './pmi/pmi1.js';
import { openPmi1 } from './pmi/pmi1-server.js';
import { pmixCode } from './pmix/pmix.js';
import { openPmix } from './pmix/pmix-connection.js';
import { pmiService } from './pmi/service.js';
import { code as programs } from './programs/program-service.js';
import { programService } from './programs/service.js';
import { code as metrics } from './scrape/metric-service.js';
import { metricService } from './scrape/service.js';
import { partService } from './service/part-service.js';
import { code as parts } from './service/parts.js';

faultService.code.provide(faults);
programService.code.provide(programs);
partService.code.provide(parts);
metricService.code.provide(metrics);
overlayService.code.provide(overlay);
watchService.code.provide(watch);
pmiService.code.provide(pmi);
hostCode.provide(PmiHost);
pmi1Code.provide(openPmi1);
pmixCode.provide(openPmix);
arbiterCode.provide(Arbiter);
