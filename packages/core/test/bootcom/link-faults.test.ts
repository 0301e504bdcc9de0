/** Faults at the links of an agent: whom they concern, links made before and after, what waits for their end. */

import { CONTROLLER, frontEndAddress, rootAddress, sessionAddress, type Address, type Channel,
  type Impairment } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Recorder } from '@stci/testkit/compliance';
import { LinkFaults } from '../../dist/bootcom/link-faults.js';
import { Link } from '../../dist/bootcom/link.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { testPlace, type TestPlace } from '../world.js';

const SILENT: Impairment = { direction: 'both', isSilent: true };
const LIMITS = { frameBytesMax: 1000, queueBytesMax: 100_000, handshakeMs: 5000 };

interface Ends {
  readonly accepting: Link;
  readonly connecting: Link;
  readonly log: string[];
}

class Site {
  readonly place: TestPlace = testPlace();
  readonly faults = new LinkFaults(this.place.platform);

  /** A link with `peer`; this end accepts it, and learns from the peer who it is, or has made it. */
  link(peer: Address, job = 0, wrap: (channel: Channel) => Channel = (channel) => channel): Ends {
    const { platform } = this.place;
    const [near, far] = memoryChannel(platform.clock, 'near', 'far');
    const log: string[] = [];
    const common = { session: new Uint8Array(8), secret: new Uint8Array(32), secrets: platform.secrets,
      admit: () => undefined };
    const make = (name: string, channel: Channel, role: 'accept' | 'connect', self: Address, isOurs: boolean): Link =>
      new Link({
        role: 'child', channel, clock: platform.clock, limits: LIMITS, handshake: { ...common, role, self, job },
        ...(isOurs && { onNamed: (link: Link, named: Address) => this.faults.onNamed(link, named) }),
      }, {
        onUp: () => log.push(`${name} up`), onFrame: () => log.push(`${name} frame`), onDrain: () => undefined,
        onClosed: (link, reason) => {
          log.push(`${name} ${reason}`);
          if (isOurs) this.faults.onClosed(link);
        },
      });
    const accepting = make('here', wrap(near), 'accept', CONTROLLER, true);
    return { accepting, connecting: make('there', far, 'connect', peer, false), log };
  }

  run(ms = 100): void {
    this.place.run(ms);
  }
}

const UP = ['there up', 'here up'];
const agent = rootAddress(4);

suite('link faults', (test) => {
  test('a link that is up is silent, closes here only, and there when it is over', () => {
    const site = new Site();
    const { accepting, log } = site.link(agent);
    site.run();
    site.faults.impair([3, 5], SILENT);
    accepting.destroy('given up', 'silent');
    site.run(60_000);
    assert.equal(log, [...UP, 'here silent']);
    site.faults.restore([5]);
    site.run();
    assert.equal(log, [...UP, 'here silent', 'there lost']);
  });

  test('of two rules for one agent the later holds, until it is over', () => {
    const site = new Site();
    const { accepting, log } = site.link(agent);
    site.run();
    site.faults.impair([5], { direction: 'both', delayMs: 1 }, 'first');
    site.faults.impair([5], SILENT, 'second');
    accepting.destroy('given up', 'silent');
    site.run(1000);
    assert.equal(log, [...UP, 'here silent']);
    site.faults.restore([5], 'second');
    site.run(10);
    assert.equal(log, [...UP, 'here silent', 'there lost']);
  });

  test('a link that is opened meanwhile hangs: it comes up afterwards, or not within its deadline', () => {
    const site = new Site();
    site.faults.impair([5], SILENT);
    const [late, soon] = [site.link(agent), new Site()];
    site.run(4000);
    assert.equal(late.log, []);
    site.faults.restore([5]);
    site.run();
    assert.equal(late.log, UP);
    soon.faults.impair([5], SILENT);
    const never = soon.link(agent);
    soon.run(60_000);
    assert.equal([...never.log].sort(), ['here timeout', 'there timeout']);
  });

  test('a new link is late as the rule says, and no more', () => {
    const site = new Site();
    site.faults.impair([5], { direction: 'both', delayMs: 100 });
    const { log } = site.link(agent);
    // hello 100 ms in, hello and proof 100 ms out, proof 100 ms in.
    site.run(290);
    assert.equal(log, ['there up']);
    site.run(20);
    assert.equal(log, UP);
  });

  test('an agent that is being started or reached gets nothing, from the first byte', () => {
    const site = new Site();
    const [near, far] = memoryChannel(site.place.platform.clock, 'near', 'far');
    site.faults.impair([5], SILENT);
    const channel = site.faults.channel(agent, near);
    const [here, there] = [new Recorder(channel), new Recorder(far)];
    channel.send([Uint8Array.of(65)]);
    far.destroy('it has ended');
    site.run();
    assert.equal([there.text, here.closed], ['', false]);
    site.faults.clear();
    site.run();
    assert.ok(here.closed);
    assert.is(site.faults.channel(agent, far), far, 'without a rule, the channel itself');
  });

  test('front-ends, session agents and other agents are not concerned', () => {
    const site = new Site();
    site.faults.impair([0, 5], SILENT);
    const links = [site.link(frontEndAddress(1)), site.link(sessionAddress(4), 2), site.link(rootAddress(5))];
    site.run();
    for (const { log } of links) assert.equal(log, UP);
    let ran = 0;
    site.faults.whenSent(sessionAddress(4), () => (ran += 1));
    site.faults.whenHeard(frontEndAddress(0), () => (ran += 1));
    assert.is(ran, 2);
  });

  test('what is done to a silent agent, and what is heard of it, waits', () => {
    const site = new Site();
    const done: string[] = [];
    const both = (): void => {
      site.faults.whenSent(agent, () => done.push('killed'));
      site.faults.whenHeard(agent, () => done.push('exited'));
    };
    site.faults.impair([5], { direction: 'in', isSilent: true });
    both();
    assert.equal(done.splice(0), ['killed']);
    site.faults.impair([5], { direction: 'out', isSilent: true });
    assert.equal(done.splice(0), ['exited'], 'a later rule lets it be heard');
    both();
    assert.equal(done.splice(0), ['exited']);
    site.faults.impair([5], { direction: 'both', delayMs: 10 });
    assert.equal(done.splice(0), ['killed']);
    both();
    assert.equal(done.splice(0), ['killed', 'exited'], 'only a silence holds it');
  });

  test('of several owners the last is in force; each ends his own', () => {
    const site = new Site();
    const { connecting, log } = site.link(agent);
    site.run();
    const ping = (): string[] => {
      connecting.announceSilence(0);
      log.length = 0;
      connecting.close();
      site.run(50);
      return log;
    };
    site.faults.impair([5], SILENT, 'a');
    site.faults.impair([5], { direction: 'in', delayMs: 1 }, 'b');
    site.faults.restore([5], 'b');
    site.faults.restore([5], 'c');
    assert.equal(ping(), ['there local'], 'a is in force again');
    site.faults.restore([5], 'a');
    site.run();
    assert.equal(log, ['there local', 'here goodbye']);
  });

  test('links are closed at once, without goodbye', () => {
    const site = new Site();
    const [{ log }, other] = [site.link(agent), site.link(rootAddress(9))];
    site.run();
    assert.is(site.faults.close([5, 77]), 1);
    site.run();
    assert.equal([log.slice(2).sort(), other.log], [['here lost', 'there lost'], UP]);
    assert.is(site.faults.close([5]), 0);
  });

  test('channels that were given up are bounded: beyond, the oldest are closed', () => {
    const site = new Site();
    site.faults.impair([5], SILENT);
    const links = Array.from({ length: 300 }, () => site.link(agent));
    site.run(20);
    for (const { accepting } of links) accepting.destroy('given up');
    site.run(50);
    const heard = links.filter(({ log }) => log.includes('there lost')).length;
    assert.is(heard, 44);
    site.faults.clear();
    site.run();
    assert.ok(links.every(({ log }) => log.includes('there lost')));
  });
});
