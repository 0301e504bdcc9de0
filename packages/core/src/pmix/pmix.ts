/** Component `pmix` of framework `pmi`: PMIx, which Open MPI speaks over TCP with an agent of its host. */

import { accept, builtinComponent } from '@stci/interface';
import { Loadable } from '../service/loadable.js';
import { pmiFramework, type PmiModule } from '../pmi/framework.js';
import { PMIX_SERVER } from '../pmi/nspace.js';

export const pmixCode: PmiModule['code'] = new Loadable(
  'PMIx', () => import('./pmix-connection.js').then(({ openPmix }) => openPmix));

/** Version of libpmix that a server of these replies is like. */
const VERSION = '5.0.7';

const module: PmiModule = {
  by: 'port',
  variables: ({ nspace, rank, hostName, port }) => ({
    PMIX_NAMESPACE: nspace,
    PMIX_RANK: String(rank),
    PMIX_SERVER_URI41: `${PMIX_SERVER.nspace}.${PMIX_SERVER.rank};tcp4://127.0.0.1:${port}`,
    PMIX_GDS_MODULE: 'hash', // Others want memory that client and server share.
    PMIX_SECURITY_MODE: 'native',
    PMIX_BFROP_BUFFER_TYPE: 'PMIX_BFROP_BUFFER_NON_DESC',
    PMIX_VERSION: VERSION,
    PMIX_HOSTNAME: hostName,
    JSM_JSRUN_PORT: '1', // By which Open MPI 4.1 knows that it was launched by somebody else than its mpirun.
  }),
  library: /\/libopen-pal\.so/u,
  code: pmixCode,
};

export const pmix = builtinComponent({
  framework: pmiFramework,
  name: 'pmix',
  help: 'PMIx over TCP on 127.0.0.1, which only processes of the same user can reach: Open MPI.',
  query: () => accept(60),
  create: () => module,
});
