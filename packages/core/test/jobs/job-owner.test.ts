/** What the front-end of a job is told, and what becomes of that which cannot be sent. */

import { FRONT_END, StciError, type JobEvent, type JobReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { FrontEndAgent } from '../../dist/jobs/front-end.js';
import { JobOwner } from '../../dist/jobs/job-owner.js';
import { AgentNode } from '../../dist/node/node.js';
import { encode } from '../../dist/codec/cbor.js';
import { line, makeNet } from '../am/net.js';
import { testPlace } from '../world.js';

const BYTES_MAX = 1000;

/** Their ends are more than a window of 4 MiB, and what there is beside it for output, takes. */
const RANKS = 90_000;

const REPORT: JobReport = {
  job: 4, exitCode: 3, failures: [], ranks: [], daemons: [{ host: 'a', count: 1 }], submitWallMs: 1, endWallMs: 2,
};

function owner(code: 'STCI_MESSAGE_TOO_LARGE' | 'STCI_MESSAGE_UNROUTABLE' = 'STCI_MESSAGE_TOO_LARGE') {
  const place = testPlace();
  const told: JobEvent[] = [];
  const unsent: string[] = [];
  const send = (to: number, _name: string, body: JobEvent, job: number): StciError | undefined => {
    assert.equal([to, job], [FRONT_END, 4]);
    if (encode(body).length > BYTES_MAX) return new StciError(code, 'not sent');
    told.push(body);
    return undefined;
  };
  const node = { platform: place.platform, messages: { send } } as never;
  const front = new JobOwner(node, FRONT_END, 4, (error) => void unsent.push(error.code));
  return { place, front, told, unsent };
}

suite('the owner of a job', (test) => {
  test('what cannot be told is an error of the job, in a later turn; a front-end that has gone is none', () => {
    const large: JobEvent = { type: 'warning', text: 'x'.repeat(BYTES_MAX) };
    const { place, front, unsent } = owner();
    front.emit(large);
    assert.equal(unsent, []);
    place.run(1);
    assert.equal(unsent, ['STCI_MESSAGE_TOO_LARGE']);
    const gone = owner('STCI_MESSAGE_UNROUTABLE');
    gone.front.emit(large);
    gone.place.run(1);
    assert.equal(gone.unsent, []);
  });

  test('what one turn tells of many ranks is taken, and the end, more than queue and window have room for', () => {
    const net = makeNet(line(1), { 'bootcom.queue.max': '4MiB' });
    const controller = net.nodes[0] as AgentNode;
    const told = { exited: 0, ended: 0 };
    const makeNode = (self: number): AgentNode => new AgentNode({
      platform: controller.platform, params: controller.params, treeOf: () => assert.unreachable() as never,
      identity: { ...controller.identity, self, secret: controller.secretOf(self, 0) },
    });
    const session = { controller, makeNode, allocation: undefined, leave: () => undefined };
    void new FrontEndAgent(session, FRONT_END, {
      onJobEvent: ({ type }) => {
        if (type === 'exited' || type === 'ended') told[type] += 1;
      },
      onOutput: () => undefined, onStdinDrain: () => undefined, onStdinClosed: () => undefined,
      onStopped: () => undefined,
    });
    net.until(() => controller.router.link(FRONT_END) !== undefined, 'its link');
    const front = new JobOwner(controller, FRONT_END, 4, () => undefined);
    for (let rank = 0; rank < RANKS; rank++) {
      front.emit({ type: 'exited', report: { rank, host: 'a', app: 0, pid: 9, outcome: 'lost', leftovers: 0 } });
    }
    front.tellEnd(REPORT);
    net.until(() => told.ended > 0, 'the end');
    assert.equal([told, net.faults], [{ exited: RANKS, ended: 1 }, []]);
  }, { timeoutMs: 60_000 });

  test('the end is told in any case: without what makes it too large, and why', () => {
    const { front, told } = owner();
    front.tellEnd(REPORT);
    const large = { code: 'STCI_JOB_TIMEOUT', message: 'x'.repeat(BYTES_MAX) } as const;
    front.tellEnd({ ...REPORT, cause: large });
    const gone = owner('STCI_MESSAGE_UNROUTABLE');
    gone.front.tellEnd({ ...REPORT, cause: large });
    assert.equal(told.map((event) => event.type === 'ended' && [event.report.exitCode, event.report.cause?.code]), [
      [3, undefined], [3, 'STCI_MESSAGE_TOO_LARGE'],
    ]);
    assert.equal(gone.told, []);
  });
});
