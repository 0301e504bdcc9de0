/**
 * ESLint with the repository's rules. The tables (permitted imports, globals reserved for the Platform) are
 * packages/testkit/src/tidy/house.ts, shared with tidy; the messages name what to use instead.
 */

import typescript from '@typescript-eslint/eslint-plugin';
import parser from '@typescript-eslint/parser';
import {
  BANNED_EVERYWHERE, BANNED_GLOBALS, OWNERS, PACKAGE_RULES, TEST_SYNTAX,
} from '../packages/testkit/dist/tidy/house.js';

/** Syntax that is banned in packages. */
const BANNED_SYNTAX = [
  ...BANNED_EVERYWHERE,
  { selector: 'TSEnumDeclaration', message: 'No enums: a union of literals, or a frozen table (`as const`).' },
  { selector: 'Decorator', message: 'No decorators: several agents share a process; use plain records and factories.' },
  // Rows of messages are added to the table of another file, by a literal name.
  { selector: "TSModuleDeclaration[id.type='Identifier']", message: 'No namespaces: a file is a module.' },
  { selector: 'TSParameterProperty', message: 'No parameter properties: declare the field.' },
  { selector: 'ExportDefaultDeclaration', message: 'No default exports: name it once, where it is made.' },
];

/** Nondeterminism: banned outside the platforms. */
const BANNED_CALLS = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'No new Date(): use Platform.clock (new Date(wallMs) is fine).',
  },
  { selector: "CallExpression[callee.name='Date']", message: 'No Date(): use Platform.clock.' },
  {
    selector: 'ImportExpression:not([source.value=/^\\./])',
    message: 'No import() but of files of this package: what else it needs is given to it.',
  },
];

const BANNED_PROPERTIES = [
  { object: 'Date', property: 'now', message: 'Use Platform.clock.' },
  { object: 'Math', property: 'random', message: 'Use Platform.random.' },
  ...Object.entries(BANNED_GLOBALS).flatMap(([property, instead]) => [
    { object: 'globalThis', property, message: `${capital(instead)}.` },
    { object: 'global', property, message: `${capital(instead)}.` },
  ]),
];

/** `assert.equal(x, x)` cannot fail; a call may answer something else the second time. */
const noSameValues = {
  meta: { type: 'problem', schema: [], messages: { same: 'This compares {{ text }} with itself: it cannot fail.' } },
  create: (context) => ({
    "CallExpression[callee.object.name='assert'][callee.property.name=/^(is|equal)$/]": (node) => {
      const [found, expected] = node.arguments;
      if (found === undefined || expected === undefined || /[([{]/.test(context.sourceCode.getText(found))) return;
      const text = context.sourceCode.getText(found);
      if (text === context.sourceCode.getText(expected)) context.report({ node, messageId: 'same', data: { text } });
    },
  }),
};

export default [
  { ignores: ['**/dist/**', '**/dist-test/**', '**/node_modules/**'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  everywhere(),
  // Tidy reports a package that the table lacks.
  ...Object.keys(PACKAGE_RULES).map(glob).flatMap((name) => [sources(name), ...freeSources(name), tests(name)]),
  // Fixtures are wrong on purpose.
  {
    files: ['packages/*/test/fixtures/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...BANNED_SYNTAX], 'house/no-same-values': 'off' },
  },
  // A suite is one function with a list of tests, and may be long.
  { files: ['packages/compliance/src/**/*.ts'], rules: { 'max-lines-per-function': 'off' } },
];

/** Rules of all code. */
function everywhere() {
  return {
    files: ['**/*.ts', '**/*.mjs', '**/*.js'],
    languageOptions: { parser, ecmaVersion: 2023, sourceType: 'module' },
    plugins: { '@typescript-eslint': typescript },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': ['error', { 'ts-expect-error': 'allow-with-description' }],
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx'], location: 'start' }],
      'no-var': 'error',
      'prefer-const': 'error',
      eqeqeq: 'error',
      'no-eval': 'error',
      'no-new-func': 'error',
      'no-debugger': 'error',
      'no-dupe-else-if': 'error',
      'no-restricted-syntax': ['error', ...BANNED_EVERYWHERE],
      'no-self-compare': 'error',
      'no-unreachable': 'error',
      'no-unsafe-finally': 'error',
      'max-lines': ['error', { max: 400 }],
    },
  };
}

/** A package's src: its import directions, and all access to the system through the Platform. */
function sources(name) {
  return {
    files: [`packages/${name}/src/**/*.ts`],
    rules: {
      'max-lines-per-function': ['error', { max: 50 }],
      'no-restricted-imports': ['error', { patterns: importPatterns(name, () => false, false) }],
      'no-restricted-syntax': ['error', ...BANNED_SYNTAX, ...BANNED_CALLS],
      'no-restricted-properties': ['error', ...BANNED_PROPERTIES],
      'no-restricted-globals': ['error', ...Object.entries(BANNED_GLOBALS).map(([global, instead]) =>
        ({ name: global, message: `${capital(instead)}.` }))],
    },
  };
}

/** The parts of src that may use an outside module or node:*. */
function freeSources(name) {
  const rule = ruleOf(name);
  const places = new Set([...Object.values(rule.external), ...(rule.free === undefined ? [] : [rule.free])]);
  return [...places].sort().map((place) => {
    const free = rule.free !== undefined && place.startsWith(rule.free);
    const here = (module) => place.startsWith(rule.external[module] ?? '-');
    return {
      files: [`packages/${name}/${place}${place.endsWith('/') ? '**/*.ts' : ''}`],
      rules: {
        'no-restricted-imports': ['error', { patterns: importPatterns(name, here, free) }],
        ...(free && {
          'no-restricted-globals': 'off',
          'no-restricted-properties': 'off',
          'no-restricted-syntax': ['error', ...BANNED_SYNTAX],
        }),
      },
    };
  });
}

/** Tests may use node:* and the globals; not uvu, and outside modules only where their package may. */
function tests(name) {
  const external = ruleOf(name).external;
  const foreign = Object.keys(OWNERS).filter((module) => !Object.hasOwn(external, module));
  return {
    files: [`packages/${name}/test/**/*.ts`],
    plugins: { house: { rules: { 'no-same-values': noSameValues } } },
    rules: {
      'no-restricted-syntax': ['error', ...BANNED_SYNTAX, ...TEST_SYNTAX],
      'house/no-same-values': 'error',
      'no-restricted-imports': ['error', { patterns: [deep(), ...foreign.map(owned)] }],
    },
  };
}

function importPatterns(name, here, free) {
  const workspace = ruleOf(name).workspace;
  const patterns = [deep()];
  patterns.push(notOf(workspace, name));
  if (!free) {
    const message = 'Only platform-node, stcirun, compliance, testkit and tests touch node:*; use Platform.';
    patterns.push({ regex: '^node:', message });
  }
  const mine = Object.keys(OWNERS).filter((module) => here(module));
  patterns.push(...Object.keys(OWNERS).filter((module) => !here(module)).map(owned));
  const known = Object.keys(OWNERS).map(escape).join('|');
  patterns.push({
    regex: `^(?!\\.|node:|@stci/|(?:${known})(?:/|$))`,
    message: `Here packages/${name} uses ${mine.join(', ') || 'no outside module'}: see tidy/house.ts.`,
  });
  return patterns;
}

function deep() {
  return { regex: '^@stci/[^/]+/(dist|src)(/|$)', message: 'No deep imports: a package is what its exports say.' };
}

function owned(module) {
  return { regex: `^${escape(module)}(/|$)`, message: `${capital(OWNERS[module])}.` };
}

function notOf(workspace, name) {
  const pattern = (entry) => (entry.endsWith('*') ? escape(entry.slice(0, -1)) : `${escape(entry)}$`);
  const allowed = workspace.map(pattern).join('|');
  return {
    regex: `^${workspace.length > 0 ? `(?!${allowed})` : ''}@stci/`,
    message: `packages/${name} may import only ${workspace.join(', ') || 'nothing'}.`,
  };
}

/** `topology-` stands for every package that begins so. */
function glob(key) {
  return key.endsWith('-') ? `${key}*` : key;
}

function ruleOf(name) {
  return PACKAGE_RULES[name.replace('*', '')];
}

function escape(text) {
  return text.replace(/[/.]/g, '\\$&');
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
