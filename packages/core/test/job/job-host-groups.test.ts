/** Files of hosts and their groups: what they may hold, and what agents get of them. */

import { assert, suite } from '@stci/testkit';
import { groupRuns, parseHostGroups } from '../../dist/job/host-groups.js';

suite('host groups', (test) => {
  test('lists of hosts, comments, blank lines; a group may have several lines', () => {
    const text = '\uFEFF# hosts cabinet\r\nn[01-03] east # comment\r\n\r\n  n05\twest\nn04 east\nn01 east\n';
    const groups = parseHostGroups('f', text);
    const east = ['n01', 'n02', 'n03', 'n04'].map((host) => [host, 'east']);
    assert.equal([...groups].sort(), [...east, ['n05', 'west']]);
    assert.is(groupRuns(groups, ['n05', 'n01', 'n02', 'x', 'y', 'n04']), '0*1,1*2,2*1,3*1,1*1');
  });

  test('each bad line is told with its number and what was expected', () => {
    const { message } = assert.throwsCode('STCI_HOSTFILE_INVALID', () =>
      parseHostGroups('cab', 'a east\nb\na west\nn[3-1] east\nc:4 east\nd e f\n'));
    const expected = 'expected a host list and the name of its group, got';
    for (const part of [
      `cab:2: ${expected} "b"`, 'cab:3: host a is in "east" and "west"', 'cab:4:', 'cab:5: expected names of hosts',
      `cab:6: ${expected} "d e f"`,
    ]) assert.match(message, part);
  });
});
