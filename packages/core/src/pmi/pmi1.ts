/** Component `pmi1` of framework `pmi`: PMI-1, which MPICH and what is made from it speak over an inherited socket. */

import { RANK_SOCKET_FD, accept, builtinComponent } from '@stci/interface';
import { Loadable } from '../service/loadable.js';
import { pmiFramework, type PmiModule } from './framework.js';

export const pmi1Code: PmiModule['code'] = new Loadable(
  'PMI-1', () => import('./pmi1-server.js').then(({ openPmi1 }) => openPmi1));

const module: PmiModule = {
  by: 'socket',
  variables: ({ rank, size }) => ({
    PMI_FD: String(RANK_SOCKET_FD), PMI_RANK: String(rank), PMI_SIZE: String(size),
  }),
  library: /\/libmpi(?:ch\.so|\.so\.1[2-9])/u,
  code: pmi1Code,
};

export const pmi1 = builtinComponent({
  framework: pmiFramework,
  name: 'pmi1',
  help: 'PMI-1 over an inherited socket, descriptor 3: MPICH, and libraries made from it.',
  query: () => accept(50),
  create: () => module,
});
