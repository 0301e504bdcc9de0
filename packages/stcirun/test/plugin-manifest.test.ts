/** Manifests of plugins, ranges of versions, archives: what is read without running anything. */

import { assert, suite } from '@stci/testkit';
import { PLUGIN_API, StciError, type PluginManifest } from '@stci/interface';
import { pluginFrameworks } from '../dist/assembly/registry.js';
import { hashOf, packFiles, pathProblem, unpackFiles, type PluginFile } from '../dist/plugin/archive.js';
import { readManifest } from '../dist/plugin/manifest.js';
import { parseRange } from '../dist/plugin/range.js';

const FRAMEWORKS = pluginFrameworks();
const STAR = { framework: 'topology', name: 'star', module: './star.js', help: 'A star.' };
const SPEC = { type: 'int', default: 2, min: 1, help: 'Rays.' };

const manifest = (stci: unknown): string => JSON.stringify({ name: 'p', version: '1.2.3', stci });
const withComponent = (more: object): string => manifest({ api: '^1', components: [{ ...STAR, ...more }] });

function problemsOf(json: string): readonly string[] {
  try {
    readManifest(json, '/p/package.json', FRAMEWORKS);
    return [];
  } catch (thrown) {
    assert.ok(thrown instanceof StciError);
    assert.is((thrown as StciError).code, 'STCI_PLUGIN_INVALID');
    return (thrown as StciError).message.split('\n');
  }
}

suite('manifests of plugins', (test) => {
  test('a whole one', () => {
    const stci: PluginManifest = {
      api: `^${PLUGIN_API}`, components: [{ ...STAR, params: { 'rays.max': { ...SPEC, type: 'int' } }, args: {} }],
    };
    assert.equal(readManifest(manifest(stci), 'x', FRAMEWORKS), { name: 'p', version: '1.2.3', manifest: stci });
  });

  const WRONG: readonly (readonly [json: string, problem: RegExp])[] = [
    ['{', /^\/p\/package\.json: it is no JSON: /u],
    ['[]', /^\/p\/package\.json: expected an object; found an empty list\.$/u],
    [JSON.stringify({ name: 'p' }), /stci: it is missing: the package declares no .* Expected \{ "api": "\^1"/u],
    [manifest({ api: 1, components: [STAR] }), /: stci\.api: expected a range of versions, .*; found 1\.$/u],
    [manifest({ api: 'new', components: [STAR] }), /: stci\.api: expected a range of versions, .*; found "new"\.$/u],
    [manifest({ api: '^99', components: [STAR] }), /version \^99 of the .* this STCI has 1\.\S+\. Update STCI\.$/u],
    [manifest({ api: '^0.1', components: [STAR] }), /version \^0\.1 of the plugin API; .*\. Update the plugin\.$/u],
    [manifest({ api: '^1' }), /: stci\.components: it is missing\.$/u],
    [manifest({ api: '^1', components: [] }), /: stci\.components: expected a list .*; found an empty list/u],
    [manifest({ api: '^1', components: [STAR, STAR] }), /components\[1\]: topology:star is declared twice/u],
    [manifest({ api: '^1', component: [], components: [STAR] }), /stci\.component: .* Did you mean components\?/u],
    [manifest({ api: '^1', components: [5] }), /: stci\.components\[0\]: expected an object; found 5\.$/u],
    [withComponent({ framework: 'topolgy' }), /\.framework: .* \(did you mean topology\?\); found "topolgy"/u],
    [withComponent({ name: 'Star' }), /\[0\]\.name: expected a-z and 0-9, a letter first; found "Star"\.$/u],
    [withComponent({ module: '../star.js' }), /\.module: expected a path .*; found "\.\.\/star\.js"/u],
    [withComponent({ help: '' }), /\.help: expected text that is not empty; found ""\.$/u],
    [withComponent({ parms: {} }), /\[0\]\.parms: unknown member\. Did you mean params\? There are: /u],
    [withComponent({ params: [] }), /\[0\]\.params: expected an object; found an empty list\.$/u],
    [withComponent({ params: { Rays: SPEC } }), /params\.Rays: no name of a parameter\. Expected dotted parts/u],
    [withComponent({ params: { rays: {} } }), /params\.rays\.type: it is missing\.$/u],
    [withComponent({ params: { rays: { ...SPEC, type: 'integer' } } }), /rays\.type: expected one of .*"integer"\.$/u],
    [withComponent({ params: { rays: { ...SPEC, min: '1' } } }), /rays\.min: expected an integer; found "1"\.$/u],
    [withComponent({ params: { rays: { ...SPEC, most: 1 } } }), /rays\.most: unknown member/u],
    [withComponent({ params: { rays: { ...SPEC, default: 0 } } }), /rays: has a default that is less than 1/u],
    [withComponent({ args: { rays: { ...SPEC, scope: 'all' } } }), /args\.rays\.scope: expected one of session, /u],
  ];
  for (const [index, [json, problem]] of WRONG.entries()) {
    test(`refused with place, finding and expectation: ${index}, ${problem.source.slice(0, 50)}`, () => {
      assert.match(problemsOf(json)[0] ?? '', problem);
    });
  }

  test('all problems are told at once', () => {
    assert.is(problemsOf(withComponent({ name: '', help: 1, params: { a: 1, b: 2 } })).length, 4);
  });

  test('ranges, as npm reads them', () => {
    const table: Readonly<Record<string, readonly [inside: string, outside: string]>> = {
      '^1': ['1.0.0 1.9.9', '0.9.9 2.0.0'],
      '^1.2': ['1.2.0 1.9.0', '1.1.9 2.0.0'],
      '^0.2.1': ['0.2.1 0.2.9', '0.2.0 0.3.0'],
      '~1.2': ['1.2.0 1.2.9', '1.1.9 1.3.0'],
      '1': ['1.0.0 1.5.0', '0.9.0 2.0.0'],
      '1.2.x': ['1.2.0 1.2.7', '1.3.0'],
      '=1.2.3': ['1.2.3', '1.2.4'],
      '*': ['0.0.0 9.0.0', ''],
      '>=1.1 <3': ['1.1.0 2.9.9', '1.0.9 3.0.0'],
      '> 1 <= 2.1': ['2.0.0 2.1.9', '1.9.9 2.2.0'],
      '^1 || ^3': ['1.0.0 3.0.0', '2.0.0'],
    };
    const split = (text: string): string[] => text.split(' ').filter((word) => word !== '');
    for (const [text, [inside, outside]] of Object.entries(table)) {
      const range = parseRange(text);
      for (const version of split(inside)) assert.is(range?.has(version), true, `${version} is in ${text}`);
      for (const version of split(outside)) assert.is(range?.has(version), false, `${version} is not in ${text}`);
    }
    for (const text of ['', 'new', '1.2.3.4', '^', '>=1 or 2', '1 - 2']) assert.is(parseRange(text), undefined, text);
    assert.is(parseRange('>=2')?.isAbove('1.9.0'), true);
    assert.is(parseRange('<1')?.isAbove('1.9.0'), false);
  });

  test('an archive is the same for the same files, and another for any other', () => {
    const file = (path: string, text: string, isExecutable = false): PluginFile =>
      ({ path, isExecutable, bytes: Buffer.from(text) });
    const files = [file('b/c.js', 'two'), file('a.js', 'one\n- 3 x\n'), file('run', '#!', true), file('empty', '')];
    const archive = packFiles(files);
    assert.is(hashOf(packFiles([...files].reverse())), hashOf(archive));
    const back = unpackFiles(archive).map(({ bytes, ...rest }) => ({ ...rest, text: Buffer.from(bytes).toString() }));
    assert.equal(back.map(({ path }) => path), ['a.js', 'b/c.js', 'empty', 'run']);
    assert.is(back[0]?.text, 'one\n- 3 x\n');
    const others = [[file('a', 'b')], [file('a', 'c')], [file('ab', '')], [file('a', 'b', true)]];
    assert.is(new Set(others.map((one) => hashOf(packFiles(one)))).size, others.length);
    for (let at = 0; at < archive.length; at += 1) {
      try {
        for (const { path } of unpackFiles(archive.subarray(0, at))) assert.is(pathProblem(path), undefined);
      } catch (thrown) {
        assert.match((thrown as Error).message, /archive/u);
      }
    }
    assert.throws(() => unpackFiles(packFiles([file('../out', 'x')])), /damaged/u);
  });

  test('links are no framework for plugins', () => {
    const components = [{ framework: 'bootcom', name: 'own', module: './index.js', help: 'x' }];
    const json = JSON.stringify({ name: 'own', version: '1.0.0', stci: { api: '^1', components } });
    assert.throws(() => readManifest(json, '/p/package.json', FRAMEWORKS), /framework: expected one of [^.]*topology/u);
  });
});
