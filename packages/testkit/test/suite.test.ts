/** The wrapped suite as its users see it: order of hooks, deadlines, assertions. */

import { StciError } from '@stci/interface';
import { assert, eventually, patient, suite, withDeadline } from '@stci/testkit';

const order: string[] = [];

suite('suite', (test) => {
  test.before(() => { order.push('before'); });
  test.beforeEach(() => { order.push('beforeEach'); });
  test.afterEach(() => { order.push('afterEach'); });

  test('runs hooks around its tests', () => {
    assert.equal(order, ['before', 'beforeEach']);
  });

  test('runs them again for the next test', () => {
    assert.equal(order, ['before', 'beforeEach', 'afterEach', 'beforeEach']);
  });
});

suite('second suite of a file', (test) => {
  test('runs after the first has ended', () => {
    assert.is(order.filter((each) => each === 'afterEach').length, 2);
  });
});

suite('assert', (test) => {
  test('equal is deep, is is identity', () => {
    assert.equal({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] });
    assert.match(failure(() => assert.is({}, {})), 'strictly equal');
    assert.match(failure(() => assert.equal({ a: 1 }, { a: 2 })), 'deeply equal');
  });

  test('throws wants a throw that fits', () => {
    assert.throws(() => { throw new Error('full moon'); }, /moon/);
    assert.match(failure(() => assert.throws(() => { throw new Error('sun'); }, /moon/)), 'matching `/moon/`');
    assert.match(failure(() => assert.throws(() => 1)), 'Expected function to throw');
  });

  test('throwsCode tells codes apart', () => {
    const fail = (): never => { throw new StciError('STCI_USAGE', 'no such option'); };
    assert.is(assert.throwsCode('STCI_USAGE', fail).message, 'no such option');
    assert.match(failure(() => assert.throwsCode('STCI_INTERNAL', fail)), 'there came STCI_USAGE');
    assert.match(failure(() => assert.throwsCode('STCI_USAGE', () => 1)), 'the function returned');
  });

  test('rejectsWith tells codes apart', async () => {
    const fail = async (): Promise<never> => { throw new StciError('STCI_USAGE', 'no'); };
    assert.is((await assert.rejectsWith('STCI_USAGE', fail)).message, 'no');
    const wrong = await assert.rejectsWith('STCI_INTERNAL', fail).catch((error: Error) => error);
    assert.match(wrong.message, 'there came STCI_USAGE');
    const none = await assert.rejectsWith('STCI_USAGE', async () => 1).catch((error: Error) => error);
    assert.match((none as Error).message, 'the promise was fulfilled');
  });

  test('throws refuses an async function', () => {
    const async = async (): Promise<never> => { throw new Error('late'); };
    assert.match(failure(() => assert.throws(async)), 'returned a promise');
    assert.match(failure(() => assert.not.throws(async)), 'returned a promise');
  });
});

suite('deadlines', (test) => {
  test('eventually returns the value', async () => {
    let tries = 0;
    assert.is(await eventually(() => (++tries > 3 ? 'there' : undefined), { what: 'the fourth try' }), 'there');
  });

  test('eventually names what it waited for, and the last value', async () => {
    const error = await rejection(eventually(() => 0, { deadlineMs: 20, what: 'the moon' }));
    assert.match(error.message, `Waited ${patient(20)} ms for: the moon; the last value was 0`);
  });

  test('eventually names the last error', async () => {
    const broken = (): never => { throw new Error('no moon'); };
    const error = await rejection(eventually(broken, { deadlineMs: 20, what: 'the moon' }));
    assert.match(error.message, 'the last error was no moon');
  });

  test('eventually ends when the condition itself never answers', async () => {
    const error = await rejection(eventually(() => new Promise(() => undefined), { deadlineMs: 20, what: 'it' }));
    assert.match(error.message, 'did not answer');
  });

  test('withDeadline passes results on and names what was late', async () => {
    assert.is(await withDeadline(Promise.resolve(7), 1000, 'seven'), 7);
    const error = await rejection(withDeadline(new Promise(() => undefined), 10, 'the tide'));
    assert.match(error.message, 'Not done within 10 ms: the tide');
  });
});

function failure(fn: () => unknown): string {
  try {
    fn();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing failed';
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(() => new Error('it was fulfilled'), (error: Error) => error);
}
