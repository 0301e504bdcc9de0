/** A rank's mailbox: which receive gets which message, and what that costs. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { assert, eventually, seededIntegers, suite } from '@stci/testkit';
import { RankMailbox, type MailMessage, type Receive } from '../../dist/programs/rank-mailbox.js';

const NONE = new Uint8Array();
const messageOf = (from: number, tag: string): MailMessage =>
  ({ from, tag, form: 'bytes', bytes: NONE, host: 0, isGranted: false });

const fits = ({ from, tag }: Receive, message: MailMessage): boolean =>
  (from ?? message.from) === message.from && (tag ?? message.tag) === message.tag
  && (tag !== undefined || !message.tag.startsWith('_'));

suite('mailbox of a rank', (test) => {
  test('60 seeds: the first receive and message that fit, as if each were tested when it comes', () => {
    let matches = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const pick = seededIntegers(seed);
      const mailbox = new RankMailbox();
      const receives: Receive[] = [];
      const messages: MailMessage[] = [];
      const wanted: (readonly [Receive, MailMessage])[] = [];
      const got: (readonly [Receive, MailMessage])[] = [];
      for (let step = 1; step <= 400; step++) {
        const from = pick(3);
        const tag = ['a', 'b', '_c'][pick(3)] as string;
        const what = pick(5);
        if (what < 2) {
          const message = messageOf(from, tag);
          mailbox.push(message);
          const at = receives.findIndex((receive) => fits(receive, message));
          if (at < 0) messages.push(message);
          else wanted.push([...receives.splice(at, 1) as [Receive], message]);
        } else if (what < 4) {
          const receive = { id: step, from: pick(2) === 0 ? undefined : from, tag: pick(2) === 0 ? undefined : tag };
          mailbox.await(receive);
          const at = messages.findIndex((message) => fits(receive, message));
          if (at < 0) receives.push(receive);
          else wanted.push([receive, ...messages.splice(at, 1) as [MailMessage]]);
        } else {
          for (let found = mailbox.take(); found !== undefined; found = mailbox.take()) got.push(found);
          const [some] = receives;
          if (some !== undefined) assert.is(mailbox.cancel(receives.splice(0, 1)[0]?.id ?? 0), true);
        }
      }
      for (let found = mailbox.take(); found !== undefined; found = mailbox.take()) got.push(found);
      assert.equal(got, wanted, `seed ${seed}`);
      assert.equal(mailbox.receives, receives);
      assert.is(mailbox.bytes, messages.length * 256);
      matches += got.length;
    }
    assert.ok(matches > 5000, `${matches} matches`);
  });

  test('32000 messages that no receive fits, and 1024 receives: each of them is tested once', () => {
    const mailbox = new RankMailbox();
    let tests = 0;
    const counted = (): MailMessage => ({
      ...messageOf(0, 'y'),
      get tag() {
        tests += 1;
        return 'y';
      },
    });
    for (let i = 0; i < 32_000; i++) mailbox.push(counted());
    for (let i = 1; i <= 1024; i++) {
      mailbox.await({ id: i, from: undefined, tag: 'x' });
      assert.is(mailbox.take(), undefined);
    }
    assert.ok(tests <= 4 * 32_000, `${tests} tests`);
    mailbox.push(messageOf(0, 'x'));
    assert.is(mailbox.take()?.[0].id, 1);
    assert.is(mailbox.cancelAll(() => true).length, 1023);
    for (let i = 0; i < 32_000; i++) {
      mailbox.await({ id: i, from: 0, tag: undefined });
      assert.is(mailbox.take()?.[0].id, i);
    }
    assert.is(mailbox.bytes, 0);
  });

  test('what a connection that ended had not been told waits for the next, in order for each sender and tag', () => {
    const mailbox = new RankMailbox();
    const push = (from: number, tag: string, number: number): void =>
      mailbox.push({ ...messageOf(from, tag), bytes: Uint8Array.of(number) });
    push(0, 'b', 1);
    for (const id of [1, 2, 3]) mailbox.await({ id, from: undefined, tag: 'a' });
    for (const number of [2, 3]) push(0, 'a', number);
    push(1, 'a', 4);
    assert.is(mailbox.take()?.[1].bytes[0], 2);
    mailbox.await({ id: 4, from: 5, tag: undefined });
    push(0, 'a', 5);
    mailbox.disconnect();
    assert.equal([mailbox.take(), mailbox.receives, mailbox.isTold, mailbox.bytes], [undefined, [], true, 4 * 257]);
    const next = (from: number, tag?: string): unknown => {
      mailbox.await({ id: 9, from, tag });
      return mailbox.take()?.[1].bytes[0];
    };
    assert.equal([next(0, 'a'), next(1), next(0, 'a'), next(0)], [3, 4, 5, 1]);
    assert.is(mailbox.bytes, 0);
  });

  test('messages that were taken are not kept with their bytes, whatever lies before them', async () => {
    const mailbox = new RankMailbox();
    for (let i = 0; i < 200; i++) mailbox.push(messageOf(0, 'unread'));
    assert.is(mailbox.take(), undefined);
    const take = (isFirst: boolean): WeakRef<Uint8Array> => {
      const bytes = new Uint8Array(1024 * 1024);
      const receive = { id: 1, from: 0, tag: 'long' };
      if (isFirst) mailbox.await(receive);
      mailbox.push({ ...messageOf(0, 'long'), bytes });
      if (!isFirst) {
        assert.is(mailbox.take(), undefined);
        mailbox.await(receive);
      }
      assert.is(mailbox.take()?.[1].bytes.length, bytes.length);
      return new WeakRef(bytes);
    };
    const taken = [take(true), take(false)];
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const areGone = (): boolean => {
      collect();
      return taken.every((bytes) => bytes.deref() === undefined);
    };
    void (await eventually(areGone, { what: 'their bytes are gone', everyMs: 1 }));
  });

  test('tags that were used once leave nothing behind', () => {
    const mailbox = new RankMailbox();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const take = (count: number): number => {
      for (let i = 0; i < count; i++) {
        mailbox.push(messageOf(0, `tag ${i}`));
        assert.is(mailbox.take(), undefined);
        mailbox.await({ id: i, from: 0, tag: `tag ${i}` });
        assert.is(mailbox.take()?.[0].id, i);
      }
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = take(1000);
    const moreMiB = (take(30_000) - before) / 2 ** 20;
    assert.ok(moreMiB < 3, `${moreMiB} MiB more`);
  });
});
