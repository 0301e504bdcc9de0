/** Session agents that were linked again: a job is not over before they have sent again, or are lost. */

import { StciError, type ErrorCode } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { JobHosts } from '../../dist/agent/job-hosts.js';
import { testPlace } from '../world.js';

type Answer = (error: StciError | undefined) => void;

const TRANSIENT = [
  'STCI_REQUEST_TIMEOUT', 'STCI_MESSAGE_TTL', 'STCI_REQUEST_LIMIT', 'STCI_MESSAGE_UNROUTABLE',
] as const;

function asked() {
  const { platform, run } = testPlace();
  const answers: Answer[] = [];
  let settled = 0;
  const request = (_to: number, _name: string, _body: unknown, done: Answer): void => void answers.push(done);
  const hosts = new JobHosts(platform.clock, { request: request as never }, 1, () => { settled += 1; });
  hosts.onReport(3);
  hosts.onMended([3, 4]);
  const answer = (code?: ErrorCode): void =>
    answers.at(-1)?.(code === undefined ? undefined : new StciError(code, 'no'));
  return { hosts, answers, answer, run, settled: () => settled };
}

suite('hosts of a job', (test) => {
  test('one that cannot be asked now is asked again, until it answers', () => {
    const { hosts, answers, answer, run, settled } = asked();
    assert.is(answers.length, 1);
    for (const code of TRANSIENT) {
      const before = answers.length;
      answer(code);
      assert.equal([hosts.isSettled, settled(), answers.length], [false, 0, before], code);
      run(150);
      assert.is(answers.length, before + 1, code);
    }
    answer();
    assert.equal([hosts.isSettled, settled()], [true, 1]);
  });

  test('one that was not heard before it was linked again is asked at its first report, and once', () => {
    const { hosts, answers, answer } = asked();
    answer();
    assert.equal([hosts.isSettled, answers.length], [true, 1]);
    for (const _ of [1, 2]) {
      hosts.onReport(4);
      assert.equal([hosts.isSettled, answers.length], [false, 2]);
    }
    answer();
    assert.ok(hosts.isSettled);
    hosts.onMended([5]);
    hosts.onLost(5);
    hosts.onReport(5);
    assert.equal([hosts.isSettled, answers.length], [true, 2]);
  });

  test('one that is lost is not; nor is any after the job is over', () => {
    for (const end of [({ onLost }: { onLost(): void }) => onLost(), ({ clear }: { clear(): void }) => clear()]) {
      const { hosts, answers, answer, run } = asked();
      answer('STCI_MESSAGE_UNROUTABLE');
      end({ onLost: () => hosts.onLost(3), clear: () => hosts.clear() });
      run(1000);
      assert.equal([answers.length, hosts.isSettled], [1, true]);
    }
    const { hosts, answer, settled } = asked();
    answer('STCI_AGENT_LOST');
    assert.equal([hosts.isSettled, settled()], [true, 1]);
  });
});
