/**
 * What an MPI library asks of its launcher from MPI_Init to MPI_Finalize, so that the code that answers is in the code
 * caches: `pmix` as Open MPI does, `pmi1` as MPICH does.
 */

import { Socket, connect } from 'node:net';
import {
  BUFFER_FORM, PMIX_RANK, PmixClientEnd, Pmi1Reader, encodeFrame, encodeHello, encodeRequest, encodeValue,
  formatCommand,
} from '@stci/pmi';

const form = BUFFER_FORM.plain;
const { PMIX_NAMESPACE: nspace, PMIX_RANK: rank, PMIX_SERVER_URI41: uri, PMI_FD: descriptor } = process.env;

async function* read(socket, end) {
  let isWelcome = false;
  for await (const chunk of socket) {
    end.append(chunk);
    for (let next = end.next(); next !== undefined; next = end.next()) yield next;
    if (end.welcome !== undefined && !isWelcome) yield end.welcome;
    isWelcome = end.welcome !== undefined;
  }
}

async function pmix() {
  const socket = connect(Number(/:(\d+)$/.exec(uri)[1]), '127.0.0.1');
  const scopes = [1, 2].map((scope) => ({
    scope, kvals: [{ key: 'card', bytes: encodeValue({ type: 'string', data: nspace }) }],
  }));
  const collect = { key: 'pmix.collect', value: { type: 'bool', data: true } };
  const fence = { command: 'fence', procs: [{ nspace, rank: PMIX_RANK.wildcard }], infos: [collect] };
  const requests = [
    { command: 'jobInfo' }, { command: 'registerEvents', codes: [-7], infos: [] },
    { command: 'jobControl', procs: [], infos: [
      { key: 'pmix.reg.cleanup', value: { type: 'string', data: '/dev/shm/stci-none' } },
    ] },
    { command: 'commit', scopes }, fence, { command: 'get', nspace, rank: 1 - rank, infos: [], key: 'card' },
    { ...fence, infos: [] }, { command: 'finalize' },
  ];
  socket.write(encodeHello({
    security: 'native', credential: new Uint8Array(8), processKind: 0, nspace, rank: Number(rank), version: '5.0.7',
    bfrops: 'v41', form, gds: 'hash', rest: new Uint8Array(0),
  }));
  let tag = 101;
  for await (const _ of read(socket, new PmixClientEnd())) {
    const request = requests.shift();
    if (request === undefined) break;
    socket.write(encodeFrame(tag++, encodeRequest(form, request)));
  }
}

async function pmi1() {
  const socket = new Socket({ fd: Number(descriptor) });
  const requests = [
    ['init', { pmi_version: 1, pmi_subversion: 1 }], ['get_maxes', {}], ['get_appnum', {}], ['get_my_kvsname', {}],
    ['get', (kvsname) => ({ kvsname, key: 'PMI_process_mapping' })], ['barrier_in', {}],
    ['put', (kvsname) => ({ kvsname, key: `card-${process.env.PMI_RANK}`, value: 'card' })], ['barrier_in', {}],
    ['get', (kvsname) => ({ kvsname, key: `card-${1 - process.env.PMI_RANK}` })], ['barrier_in', {}], ['finalize', {}],
  ];
  let kvsname = '';
  const ask = () => {
    const [name, fields] = requests.shift();
    socket.write(formatCommand(name, typeof fields === 'function' ? fields(kvsname) : fields));
  };
  ask();
  for await (const { fields } of read(socket, new Pmi1Reader())) {
    kvsname = fields.get('kvsname') ?? kvsname;
    if (requests.length === 0) break;
    ask();
  }
}

await (process.argv[2] === 'pmix' ? pmix() : pmi1());
process.exit();
