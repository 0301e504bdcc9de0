import { StciError, caught } from '@stci/interface';
import { assert, suite } from '@stci/testkit';

suite('errors that are caught', (test) => {
  const error = new StciError('STCI_USAGE', 'no');

  test('one of STCI is an answer; nothing is asked where none is thrown', () => {
    const thrown = (): string => {
      throw error;
    };
    assert.is(caught(thrown, ({ message }) => message), 'no');
    assert.is(caught(() => 'yes', ({ message }) => message), 'yes');
  });

  test('any other is thrown, as is what the answer throws', () => {
    const fault = new TypeError('a fault');
    const raise = (what: unknown) => (): never => {
      throw what;
    };
    let asked = 0;
    assert.throws(() => caught(raise(fault), () => (asked += 1) as never), /a fault/);
    assert.is(asked, 0);
    assert.throws(() => caught(raise(error), raise(fault)), /a fault/);
  });
});
