/** What an agent that asks another one to be its child learns of it. */

import { CONTROLLER, rootAddress, type AgentProcessEvents, type LinkCloseReason } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { adopt, encodeAnswer } from '../../dist/boot/adoption.js';
import type { Child } from '../../dist/boot/child.js';
import type { AdoptionAnswer } from '../../dist/membership/mender.js';
import type { AgentNode, LinkHooks } from '../../dist/node/node.js';

/** Asks host 3; its messages leave at once. */
function play() {
  const answers: AdoptionAnswer[] = [];
  const log: string[] = [];
  let [link, events] = [{} as LinkHooks, {} as AgentProcessEvents];
  let admit: (peer: number, incarnation: number, job: number) => string | undefined = () => undefined;
  const atOnce = (_peer: number, call: () => void): void => call();
  const node = {
    linkFaults: { whenSent: atOnce, whenHeard: atOnce, channel: (_peer: number, channel: unknown) => channel },
    acceptLink: (_channel: unknown, _deadlineMs: number, own: typeof admit, hooks: LinkHooks) => {
      [admit, link] = [own, hooks];
      return {};
    },
  } as unknown as AgentNode;
  const child = { spec: { address: rootAddress(3), incarnation: 2 } } as unknown as Child;
  adopt(node, child, 1000, (given) => {
    events = given;
    return { channel: {}, kill: () => log.push('killed') } as never;
  }, {
    onAnswer: (answer) => answers.push(answer), onExit: () => log.push('exit'), onUp: () => log.push('up'),
    onClosed: () => log.push('closed'),
  });
  const close = (reason: LinkCloseReason, text: string): void => link.onClosed({} as never, reason, text);
  return { answers, log, child, close, admit, up: () => link.onUp?.({} as never), events };
}

suite('adoption', (test) => {
  test('it is busy if it has a parent: which one is in its words', () => {
    for (const [text, parent, wire] of [
      ['it is linked to root:4', 4, rootAddress(4)], ['it is linked to controller', undefined, CONTROLLER],
    ] as const) {
      const { answers, close, log } = play();
      close('refused', text);
      assert.equal([answers, log], [[{ result: 'busy', parent }], ['killed']]);
      assert.equal(encodeAnswer({ result: 'busy', parent }), { result: 'busy', parent: wire });
    }
    assert.equal(encodeAnswer({ result: 'dead' }), { result: 'dead', parent: undefined });
  });

  test('other words, and another reason, are no parent', () => {
    for (const [reason, text] of [
      ['refused', 'it is linked to root:x'], ['refused', 'it is not above this agent'],
      ['broken', 'it is linked to root:4'],
    ] as const) {
      const { answers, close } = play();
      close(reason as LinkCloseReason, text);
      assert.equal(answers, [{ result: 'unreachable' }]);
    }
  });

  test('a link that is lost before it is up says nothing: why there is no connection is still to come', () => {
    const { answers, child, close, events, log } = play();
    close('lost', 'closed');
    assert.equal(answers, []);
    events.onError({ code: 'c', message: 'm', data: { reach: 'dead' } } as never);
    assert.equal([answers, child.exited], [[{ result: 'dead' }], true]);
    events.onExit({ status: 0 });
    assert.equal([answers.length, log], [1, ['killed', 'exit']]);
    const gone = play();
    gone.events.onError({ code: 'c', message: 'm' } as never);
    gone.close('lost', 'closed');
    assert.equal(gone.answers, [{ result: 'unreachable' }]);
  });

  test('the end of the connection may be told before what came over it is read: why it was refused', () => {
    for (const [reason, text, answer] of [
      ['refused', 'it is linked to root:4', { result: 'busy', parent: 4 }],
      ['lost', 'closed', { result: 'unreachable' }],
    ] as const) {
      for (const isExitFirst of [true, false]) {
        const { answers, close, events } = play();
        if (isExitFirst) events.onExit({ status: 0 });
        assert.equal(answers, []);
        close(reason, text);
        if (!isExitFirst) events.onExit({ status: 0 });
        assert.equal(answers, [answer], `${text}, exit first: ${isExitFirst}`);
      }
    }
  });

  test('adopted, it is not killed, and the end of its link is told', () => {
    const { answers, up, close, log } = play();
    up();
    close('lost', 'closed');
    assert.equal([answers, log], [[{ result: 'adopted' }], ['up', 'closed']]);
  });

  test('only the agent that was meant is taken, in the incarnation that was meant', () => {
    const { admit } = play();
    assert.is(admit(rootAddress(3), 2, 0), undefined);
    for (const [peer, incarnation, job] of [[rootAddress(4), 2, 0], [rootAddress(3), 1, 0], [rootAddress(3), 2, 7]]) {
      assert.is(admit(peer as number, incarnation as number, job as number), 'it is another agent');
    }
  });
});
