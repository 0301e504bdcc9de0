import { createHmac, createHash } from 'node:crypto';
import { suite, assert } from '@stci/testkit';
import { hmacSha256, sha256 } from '@stci/interface';
import { SimRandom } from '@stci/platform-sim';

suite('simulated random', (test) => {
  test('a fork depends on seed and label alone', () => {
    const one = new SimRandom('seed 1');
    const other = new SimRandom('seed 1');
    other.uniform();
    const draw = (random: SimRandom): number[] => [1, 2, 3].map(() => random.integer(1000));
    assert.equal(draw(one.fork('a')), draw(other.fork('a')));
    assert.not.equal(draw(one.fork('a')), draw(one.fork('b')));
    assert.not.equal(draw(one.fork('a')), draw(new SimRandom('seed 2').fork('a')));
  });

  test('integers are uniform within their bound', () => {
    const random = new SimRandom('uniform');
    const counts = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 100_000; draw++) {
      const value = random.integer(10);
      counts[value] = (counts[value] ?? 0) + 1;
    }
    assert.ok(counts.every((count) => Math.abs(count - 10_000) < 500), counts.join(' '));
    assert.throws(() => random.integer(0), /1\.\.2\^32/);
  });
});

suite('SHA-256 and HMAC', (test) => {
  test('agree with the system library for every length up to 200', () => {
    const random = new SimRandom('sha');
    for (let length = 0; length <= 200; length++) {
      const data = random.bytes(length);
      const key = random.bytes(length);
      assert.equal(Buffer.from(sha256(data)).toString('hex'), createHash('sha256').update(data).digest('hex'));
      const mac = createHmac('sha256', key).update(data).digest('hex');
      assert.equal(Buffer.from(hmacSha256(key, data)).toString('hex'), mac);
    }
  });
});
