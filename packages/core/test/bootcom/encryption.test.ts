/** Which listeners encrypt, with which key, and a job over such links. */

import { hmacSha256 } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { adoptionKey, encryptsLinks, keyFor, linkKey } from '../../dist/bootcom/encryption.js';
import { resolved } from '../assembly.js';

const SECRET = Uint8Array.from({ length: 32 }, (_, i) => i);
const secrets = { bytes: (length: number) => new Uint8Array(length), mac: hmacSha256 };

const encrypts = (encrypt: string, interfaces: string): boolean =>
  encryptsLinks(resolved({ 'bootcom.ws.encrypt': encrypt, 'bootcom.ws.interface': interfaces }).params);

suite('encryption of links', (test) => {
  test('auto encrypts wherever another host can reach, and where that is not sure', () => {
    for (const inside of ['', 'lo', '127.0.0.1', '127.87.3.4', '::1', 'lo,127.0.0.1']) {
      assert.equal([inside, encrypts('auto', inside)], [inside, false]);
    }
    for (const outside of ['eth0', '0.0.0.0', '::', '10.0.0.1', '127.0.0.1,eth0', 'lo0', '127.evil', 'fe80::1']) {
      assert.equal([outside, encrypts('auto', outside)], [outside, true]);
    }
  });

  test('what is asked for is done', () => {
    assert.equal(['', 'eth0'].map((each) => encrypts('true', each)), [true, true]);
    assert.equal(['', 'eth0'].map((each) => encrypts('false', each)), [false, false]);
  });

  test('the key is the same at both ends, another for another secret, and not the secret', () => {
    const key = linkKey(secrets, SECRET);
    assert.equal(key, linkKey(secrets, SECRET.slice()));
    assert.is(key.length, 32);
    assert.not.equal(key, SECRET);
    assert.not.equal(key, linkKey(secrets, SECRET.map((byte) => byte ^ 1)));
  });

  test('an agent that waits for another parent has another key than for its children', () => {
    const key = adoptionKey(secrets, SECRET);
    assert.equal(key, adoptionKey(secrets, SECRET.slice()));
    assert.not.equal(key, linkKey(secrets, SECRET));
    assert.not.equal(key, SECRET);
  });

  test('an address says whether a key is wanted', () => {
    assert.is(keyFor('ws://h:1', SECRET), undefined);
    assert.is(keyFor('wss://h:1', SECRET), SECRET);
  });
});
