/** Sources as text: files, command line, environment, and where files are looked for. */

import { assert, suite } from '@stci/testkit';
import { environmentName, paramFilePaths } from '@stci/registry';
import { amTexts, commandLineTexts, environmentTexts, fileTexts } from '../../dist/config/sources.js';

function file(text: string) {
  return fileTexts('user file', { path: '/u/stci.conf', text });
}

function pairs(texts: readonly { readonly name: string; readonly text: string }[]): string[] {
  return texts.map(({ name, text }) => `${name}=${text}`);
}

suite('parameter files', (test) => {
  test('key = value lines, comments, blanks, both line ends, byte order mark', () => {
    const read = file('\uFEFF# head\r\n\r\n a.b = 1 \nc=x y # note\n  # indented\nd =\ne = a#b\nf = a = b');
    assert.equal(read.problems, []);
    assert.equal(pairs(read.texts), ['a.b=1', 'c=x y', 'd=', 'e=a#b', 'f=a = b']);
    assert.equal(read.texts.map((text) => text.origin), [3, 4, 6, 7, 8].map((line) => `/u/stci.conf:${line}`));
    assert.is(read.texts[0]?.source, 'user file');
  });

  test('an absent file and an empty one have nothing', () => {
    assert.equal(fileTexts('user file', undefined), { texts: [], problems: [] });
    assert.equal(fileTexts('user file', { path: '/u', text: undefined }), { texts: [], problems: [] });
    assert.equal(file(''), { texts: [], problems: [] });
  });

  for (const line of ['launcher', '= 4', '   =', 'launcher: tree']) {
    test(`refuses the line ${JSON.stringify(line)} with its place`, () => {
      const read = file(`a = 1\n${line}\nb = 2`);
      assert.equal(pairs(read.texts), ['a=1', 'b=2']);
      assert.is(read.problems.length, 1);
      assert.is(read.problems[0]?.code, 'STCI_PARAM_FILE');
      assert.match(read.problems[0]?.message ?? '', '/u/stci.conf:2: expected "key = value"');
    });
  }

  test('the same key twice: with another value a problem naming both places, with the same none', () => {
    assert.equal(file('a = 1\na = 1').problems, []);
    const [problem] = file('a = 1\nb = 2\na = 3').problems;
    assert.match(problem?.message ?? '', 'a is set twice');
    assert.match(problem?.message ?? '', '/u/stci.conf:1');
    assert.match(problem?.message ?? '', '/u/stci.conf:3');
  });

  test('lines and their number are bounded', () => {
    assert.match(file(`a = ${'x'.repeat(20_000)}`).problems[0]?.message ?? '', 'longer than');
    assert.match(file('#\n'.repeat(10_001)).problems[0]?.message ?? '', 'more than 10000 lines');
  });

  test('a later --am file goes over an earlier one', () => {
    const read = amTexts([{ path: 'x', text: 'a = 1\nb = 1' }, { path: 'y', text: 'a = 2' }]);
    assert.equal(pairs(read.texts), ['a=2', 'b=1']);
    assert.is(read.texts[0]?.origin, 'y:1');
  });
});

suite('parameters of command line and environment', (test) => {
  test('the same key twice on the command line', () => {
    const twice = (value: string) => commandLineTexts([{ key: 'a', value: '1' }, { key: 'a', value }]);
    assert.equal(twice('1').problems, []);
    assert.match(twice('2').problems[0]?.message ?? '', '--mca a=2');
  });

  test('an option may stand for a parameter', () => {
    const [text] = commandLineTexts([{ key: 'launcherproc', value: 'local', origin: '--launcher local' }]).texts;
    assert.is(text?.origin, '--launcher local');
  });

  test('only STCI_MCA_ variables are looked at', () => {
    const environment = { HOME: '/h', STCI_RANK: '3', STCI_MCA_launcher_tree_arity: '4', STCI_MCA_a: undefined };
    const { texts } = environmentTexts(environment);
    assert.equal(pairs(texts), ['launcher.tree.arity=4']);
    assert.is(texts[0]?.origin, environmentName('launcher.tree.arity'));
  });
});

suite('paths of parameter files', (test) => {
  test('project files upward from the working directory', () => {
    assert.equal(paramFilePaths('/a/b', {}).project, ['/a/b/stci.conf', '/a/stci.conf', '/stci.conf']);
    assert.equal(paramFilePaths('/', {}).project, ['/stci.conf']);
  });

  test('the user file follows XDG, else HOME, else there is none', () => {
    const user = (environment: Record<string, string>) => paramFilePaths('/', environment).user;
    assert.is(user({ XDG_CONFIG_HOME: '/x/', HOME: '/h' }), '/x/stci/stci.conf');
    assert.is(user({ XDG_CONFIG_HOME: 'relative', HOME: '/h' }), '/h/.config/stci/stci.conf');
    assert.is(user({ XDG_CONFIG_HOME: '', HOME: '/h' }), '/h/.config/stci/stci.conf');
    assert.is(user({ HOME: '' }), undefined);
  });

  test('system and override files are fixed', () => {
    const { system, override } = paramFilePaths('/', {});
    assert.equal([system, override], ['/etc/stci/stci.conf', '/etc/stci/override.conf']);
  });
});
