/** Services of a job at its session agent: those that it wants are open before its ranks start. */

import { StciError, type ErrorRecord, type Params } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { JobServices } from '../../dist/service/job-services.js';
import type { JobPlace, JobService, Service } from '../../dist/service/contracts.js';
import { Loadable } from '../../dist/service/loadable.js';
import { makeNet } from '../am/net.js';

type Done = (error?: ErrorRecord) => void;

/** A service that opens when the test says so. */
function serviceOf(name: string, log: string[], more: Partial<JobService> = {}) {
  const opening: Done[] = [];
  const open: JobService = {
    open: (done) => void opening.push(done),
    add: (rank, attempt) => ({ [name.toUpperCase()]: `${rank}.${attempt}` }),
    remove: (rank) => void log.push(`${name} removes ${rank}`),
    ...more,
  };
  const service: Service = {
    name, messages: { job: name === 'a' ? ['program.ended'] : ['program.refused'] },
    wants: (params) => params.bool('client.enable'),
    code: new Loadable(name, () => Promise.reject(new Error('it is here'))),
  };
  service.code.provide({
    job: ({ node: { messages }, holds }) => {
      holds.atEnd(() => void log.push(`${name} closes`));
      log.push(`${name} is made`);
      if (name === 'a') messages.on('program.ended', () => void log.push('a is asked'));
      return open;
    },
  });
  return { service, opened: (error?: ErrorRecord) => opening.splice(0).forEach((done) => done(error)) };
}

function play(isWanted: boolean, more?: Partial<JobService>) {
  const net = makeNet([0, 0]);
  const node = net.addSession(1, 1);
  const log: string[] = [];
  const [a, b] = [serviceOf('a', log, more), serviceOf('b', log)];
  const holds = new Scope('job');
  const services = new JobServices([a.service, b.service], node, holds);
  const place = { node, params: { bool: () => isWanted } as unknown as Params } as JobPlace;
  const open = (): void =>
    services.open(place, (error) => void log.push(error === undefined ? 'ranks start' : error.message));
  const ask = (): void => {
    net.nodes[0]?.messages.send(node.identity.self, 'program.ended', { ranks: [] }, 1);
    net.run(10);
  };
  return { ...net, node, holds, log, a, b, services, open, ask };
}

suite('services of a job', (test) => {
  test('those that are wanted are opened one after the other, then ranks start, with the variables of each', () => {
    const { log, a, b, services, holds, open } = play(true);
    open();
    assert.equal(log.splice(0), ['a is made']);
    a.opened();
    assert.equal(log.splice(0), ['b is made']);
    b.opened();
    assert.equal(log.splice(0), ['ranks start']);
    assert.equal(services.add(3, 2), { A: '3.2', B: '3.2' });
    services.remove(3);
    holds.close();
    assert.equal(log, ['a removes 3', 'b removes 3', 'b closes', 'a closes']);
  });

  test('a message that comes before the launch is handled once its service is made', () => {
    const { log, faults, open, ask } = play(true);
    ask();
    assert.equal(log, []);
    open();
    assert.equal(log.splice(0), ['a is made', 'a is asked']);
    ask();
    assert.equal([log, faults], [['a is asked'], []]);
  });

  test('a job that wants none has none: ranks start at once, messages are unknown, nobody can be told to end', () => {
    const { log, faults, services, open, ask } = play(false);
    ask();
    open();
    assert.equal([log, services.add(0, 1)], [['ranks start'], {}]);
    assert.match(faults.join(), /has no handler for message program\.ended/);
    assert.match(services.exit(0, 1) ?? '', /started without --client/);
  });

  test('one that cannot be opened is told; the others are not opened', () => {
    const { log, a, open } = play(true);
    open();
    a.opened({ code: 'STCI_INTERNAL', message: 'no socket' });
    assert.equal(log, ['a is made', 'no socket']);
  });

  test('what cannot be chosen, or made, is told as any problem', () => {
    const { log, services, node } = play(true);
    const refusal = new StciError('STCI_MCA_COMPONENT_DECLINED', 'no such service');
    const params = { bool: () => { throw refusal; } } as unknown as Params;
    services.open({ node, params } as JobPlace, (error) => void log.push(error?.message ?? ''));
    assert.equal(log, ['no such service']);
  });

  test('after the end nothing is started', () => {
    const { log, a, holds, open } = play(true);
    open();
    holds.close();
    a.opened();
    assert.equal(log, ['a is made', 'a closes']);
  });

  test('a program is told to end by who knows it', () => {
    const told = play(true, { exit: () => undefined });
    told.open();
    assert.is(told.services.exit(0, 1), undefined);
    const untold = play(true, { exit: () => 'it has no connection' });
    untold.open();
    assert.is(untold.services.exit(0, 1), 'it has no connection');
  });
});
