/** Expulsion, at the controller: whose link is closed by whom, once; and whose reports of lost agents are taken. */

import {
  CONTROLLER, StciError, addressName, rootAddress, sessionAddress, toErrorRecord, type Address,
  type HostIndex, type JobId,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { PeerGuard } from '../../dist/am/message-layer.js';
import type { Link } from '../../dist/bootcom/link.js';
import { Expulsion } from '../../dist/hosts/expulsion.js';
import type { AgentNode } from '../../dist/node/node.js';

const CAUSE = new StciError('STCI_MESSAGE_INVALID', 'nonsense');

/** Hosts 0 to 3: 0 and 1 are started by the controller, 2 by 0, 3 by 2. */
function play(isStarted = true) {
  const log: string[] = [];
  const lost: StciError[] = [];
  const asked: ((error?: StciError) => void)[] = [];
  const parents: (HostIndex | undefined)[] = [undefined, undefined, 0, 2];
  const messages = {
    guard: undefined as unknown as PeerGuard,
    transport: { drop: (agent: Address, job: JobId) => log.push(`drop ${addressName(agent)} ${job}`) },
    received: { drop: (agent: Address, job: JobId) => log.push(`received drop ${addressName(agent)} ${job}`) },
    request: (
      to: Address, name: string, { agent, reason }: { agent: Address; reason: string },
      done: (error?: StciError) => void,
      { timeoutMs, job }: { timeoutMs: number; job: JobId },
    ) => {
      assert.equal([name, timeoutMs, reason], ['agent.expel', 1000, 'it sent malformed data: nonsense']);
      log.push(`${addressName(to)} is to close ${addressName(agent)} of job ${job}`);
      asked.push(done);
    },
  };
  const table = {
    size: parents.length, nameOf: (host: HostIndex) => `h${host}`,
    get: (host: HostIndex) => ({ parent: parents[host] }),
    isAbove: (above: HostIndex, host: HostIndex) => above === parents[host] || (host === 3 && above === 0),
  };
  const below = { expel: (host: HostIndex, reason: string) => log.push(`close ${host}: ${reason}`) };
  const bootstrap = { table, below };
  const node = { messages, identity: { self: CONTROLLER } } as unknown as AgentNode;
  const expulsion = new Expulsion({
    node, bootstrap: () => (isStarted ? bootstrap as never : undefined),
    onLost: (agent, job, error) => {
      log.push(`lost ${addressName(agent)} of job ${job}`);
      lost.push(error);
    },
  });
  /** A message of a distant agent that came over a link to another host. */
  const hear = (source: Address, job: JobId): string[] => {
    messages.guard.onMalformed(source, job, { peer: rootAddress(5), role: 'child' } as Link, CAUSE);
    return log.splice(0);
  };
  const report = (agent: Address, job: JobId = 0): string[] =>
    hear(agent, job).filter((text) => !text.startsWith('received drop'));
  const failed = (source: Address, agent: Address, job: JobId = 0, code = 'STCI_AGENT_LOST'): StciError | string => {
    const error = { ...toErrorRecord(new StciError(code as 'STCI_AGENT_LOST', 'it has ended')), data: { exitCode: 3 } };
    try {
      return expulsion.acceptReport({ source, job } as never, { agent, error } as never);
    } catch (thrown) {
      return `${(thrown as StciError).code}: ${(thrown as StciError).message}`;
    }
  };
  const answer = (error?: StciError): string[] => (asked.shift()?.(error), log.splice(0));
  return { expulsion, report, hear, failed, answer, lost, told: () => log.splice(0) };
}

suite('expulsion', (test) => {
  test('a root agent\'s link is closed by the one that started it, here or elsewhere; it is lost, once', () => {
    const { report, answer, lost } = play();
    const reason = 'it sent malformed data: nonsense';
    assert.equal(report(rootAddress(1)), [`close 1: ${reason}`, 'lost root:1 of job 0']);
    assert.equal(report(rootAddress(3)), ['root:2 is to close root:3 of job 0', 'lost root:3 of job 0']);
    assert.equal([report(rootAddress(1)), report(rootAddress(3))], [[], []]);
    assert.equal(answer(CAUSE), [], 'nothing is left to try');
    const [{ code, message, host, agent } = CAUSE] = lost;
    assert.equal([code, message], ['STCI_AGENT_LOST', `Agent root:1 on host h1 is lost: ${reason}`]);
    assert.equal([host, agent], ['h1', 'root:1']);
  });

  test('a session agent\'s link is closed by its root agent; where that fails, the root agent\'s is', () => {
    const { report, answer } = play();
    const close = 'root:1 is to close session:1 of job 7';
    assert.equal(report(sessionAddress(1), 7), [close, 'lost session:1 of job 7']);
    assert.equal([answer(), report(sessionAddress(1), 7)], [[], []]);
    assert.equal(report(sessionAddress(1), 8).length, 2, 'that of another job is another agent');
    assert.equal(answer(CAUSE), ['close 1: it sent malformed data: nonsense']);
    assert.equal(report(sessionAddress(2), 7).length, 2);
    assert.equal(answer(CAUSE), ['root:0 is to close root:2 of job 0']);
  });

  test('only agents that were started are expelled', () => {
    const { report } = play();
    const others = [CONTROLLER, rootAddress(4), sessionAddress(4), rootAddress(9)];
    assert.equal(others.map((agent) => report(agent)), [[], [], [], []]);
    assert.equal(play(false).report(rootAddress(1)), []);
  });

  test('one that is heard here is refused from then on, until it is replaced', () => {
    const { expulsion, hear, report } = play();
    assert.equal(hear(sessionAddress(2), 7).slice(0, 1), ['received drop session:2 7']);
    assert.equal([hear(sessionAddress(2), 7), report(sessionAddress(2), 7)], [[], []]);
    expulsion.forgive(1);
    assert.equal(report(sessionAddress(2), 7), [], 'another host');
    expulsion.forgive(2);
    assert.is(hear(sessionAddress(2), 7).at(-1), 'lost session:2 of job 7');
    report(rootAddress(2));
    expulsion.forgive(2);
    assert.is(report(rootAddress(2)).at(-1), 'lost root:2 of job 0');
  });

  test('an agent reports those that it started, or that are below it; nobody else is believed', () => {
    const { failed } = play();
    const refused = (source: Address, agent: Address): string =>
      `STCI_MESSAGE_INVALID: ${addressName(source)} did not start ${addressName(agent)}`;
    const good: [Address, Address][] = [
      [rootAddress(1), sessionAddress(1)], [rootAddress(2), rootAddress(3)], [rootAddress(0), rootAddress(3)],
      [CONTROLLER, rootAddress(3)], [CONTROLLER, rootAddress(0)],
    ];
    for (const [source, agent] of good) assert.is((failed(source, agent) as StciError).code, 'STCI_AGENT_LOST');
    const bad: [Address, Address][] = [
      [rootAddress(0), sessionAddress(1)], [sessionAddress(1), sessionAddress(1)], [CONTROLLER, sessionAddress(1)],
      [rootAddress(3), rootAddress(2)], [rootAddress(1), rootAddress(3)], [sessionAddress(2), rootAddress(3)],
      [rootAddress(2), rootAddress(2)], [CONTROLLER, rootAddress(4)], [rootAddress(0), rootAddress(4)],
      [rootAddress(1), CONTROLLER],
    ];
    for (const [source, agent] of bad) assert.is(failed(source, agent), refused(source, agent));
    assert.is(play(false).failed(CONTROLLER, rootAddress(0)), refused(CONTROLLER, rootAddress(0)));
  });

  test('the failure has the text and the data of the report, a permitted code, the true host and the agent', () => {
    const { failed } = play();
    const found = failed(rootAddress(2), rootAddress(3), 0, 'STCI_LAUNCH_FAILED') as StciError;
    assert.equal([found.code, found.message], ['STCI_LAUNCH_FAILED', 'it has ended']);
    assert.equal([found.host, found.agent, found.data], ['h3', 'root:3', { exitCode: 3 }]);
    assert.is((failed(rootAddress(2), rootAddress(3), 0, 'STCI_INTERNAL') as StciError).code, 'STCI_AGENT_LOST');
  });

  test('who is reported as lost is forgiven: its replacement starts without its faults', () => {
    const { failed, report, told } = play();
    for (const job of [7, 8]) report(sessionAddress(2), job);
    failed(rootAddress(2), sessionAddress(2), 7);
    assert.equal(told(), ['drop session:2 7']);
    assert.equal([report(sessionAddress(2), 7).length, report(sessionAddress(2), 8)], [2, []]);
    report(rootAddress(3));
    report(sessionAddress(3), 7);
    failed(rootAddress(2), rootAddress(3));
    assert.equal([told(), report(rootAddress(3)).length, report(sessionAddress(3), 7).length], [[], 2, 2]);
    failed(rootAddress(1), rootAddress(3));
    assert.equal(report(rootAddress(3)), [], 'a report that is refused forgives nothing');
  });
});
