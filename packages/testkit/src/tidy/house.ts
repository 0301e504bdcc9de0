/**
 * Rules of the repository as tables: which package may import which module, and which globals only the platforms use.
 * ESLint (lint/eslint.config.mjs) and tidy read the same tables.
 */

export interface PackageRule {
  /** Workspace modules that its src may import, as written in the import; a `*` at the end matches anything. */
  readonly workspace: readonly string[];
  /** Other modules → where in src they may be imported (a path prefix below the package). */
  readonly external: Readonly<Record<string, string>>;
  /** Prefix below the package within which `node:*` and the banned globals are allowed; undefined: nowhere. */
  readonly free: string | undefined;
}

const CONTRACTS = '@stci/interface';
const COMPONENT: PackageRule = { workspace: [CONTRACTS, '@stci/core/component'], external: {}, free: undefined };

/** A name that ends in `-` is a prefix of package names. */
export const PACKAGE_RULES: Readonly<Record<string, PackageRule>> = {
  interface: { workspace: [], external: {}, free: undefined },
  registry: {
    workspace: [CONTRACTS],
    external: { tsyringe: 'src/mca/container.ts', 'reflect-metadata': 'src/mca/container.ts' },
    free: undefined,
  },
  core: {
    workspace: [CONTRACTS, '@stci/pmi', '@stci/registry', '@stci/registry/container'],
    external: { 'cbor-x': 'src/codec/' }, free: undefined,
  },
  client: { workspace: [CONTRACTS], external: {}, free: 'src/' },
  'topology-': COMPONENT,
  'launcher-': { ...COMPONENT, workspace: [...COMPONENT.workspace, '@stci/host-program'] },
  'host-program': { workspace: [CONTRACTS], external: {}, free: undefined },
  'detector-': COMPONENT,
  'notifier-': COMPONENT,
  pmi: { workspace: [CONTRACTS], external: {}, free: undefined },
  'platform-node': { workspace: [CONTRACTS], external: { ws: 'src/' }, free: 'src/' },
  'platform-sim': { workspace: [CONTRACTS], external: {}, free: undefined },
  swarm: {
    workspace: [
      CONTRACTS, '@stci/pmi', '@stci/core', '@stci/core/*', '@stci/platform-sim', '@stci/launcher-local',
      '@stci/launcher-ssh',
      '@stci/topology-tree', '@stci/topology-bmg', '@stci/topology-mesh', '@stci/detector-mesh', '@stci/detector-ring',
      '@stci/detector-swim', '@stci/notifier-bmg', '@stci/notifier-hypercube', '@stci/finject', '@stci/finject/*',
    ],
    external: {},
    free: 'src/main.ts',
  },
  finject: {
    workspace: [CONTRACTS, '@stci/core', '@stci/core/*'],
    external: { yaml: 'src/experiment/', ajv: 'src/experiment/' },
    free: undefined,
  },
  'finject-cli': { workspace: ['@stci/*'], external: { '@oclif/core': 'src/' }, free: 'src/' },
  compliance: {
    workspace: [CONTRACTS, '@stci/core', '@stci/core/*', '@stci/platform-node', '@stci/platform-sim'],
    external: { uvu: 'src/' },
    free: 'src/',
  },
  testkit: {
    workspace: ['@stci/compliance', '@stci/compliance/*'], external: { acorn: 'src/mutants/' }, free: 'src/',
  },
  stcirun: {
    workspace: ['@stci/*'],
    external: { '@oclif/core': 'src/', 'prom-client': 'src/stci/metrics-text.ts' },
    free: 'src/',
  },
};

/** Packages of the workspace outside packages/: their permitted dependencies. They have no src. */
export const TOOL_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  lint: ['@typescript-eslint/eslint-plugin', '@typescript-eslint/parser', 'eslint', 'typescript'],
};

/** Development dependencies that any package may have. */
export const DEV_DEPENDENCIES: readonly string[] = ['@types/node', 'typescript'];
/** … and that one package may have. */
export const DEV_DEPENDENCIES_OF: Readonly<Record<string, readonly string[]>> = {
  'platform-node': ['@types/ws'],
  stcirun: ['esbuild', 'oclif'],
};

/** Module → the only place that may import it, for the message. */
export const OWNERS: Readonly<Record<string, string>> = {
  ws: 'only packages/platform-node; use Platform.network',
  'cbor-x': 'only packages/core/src/codec; use its encode and decode',
  tsyringe: 'only packages/registry/src/mca/container.ts; use its scopes',
  'reflect-metadata': 'only packages/registry/src/mca/container.ts',
  'prom-client': 'only packages/stcirun/src/stci/metrics-text.ts, which is loaded when it is needed',
  '@oclif/core': 'only packages/stcirun and packages/finject-cli',
  yaml: 'only packages/finject/src/experiment',
  ajv: 'only packages/finject/src/experiment',
  acorn: 'only packages/testkit/src/mutants',
  uvu: 'only packages/compliance; use suite and assert of @stci/testkit',
};

/** Banned global → its replacement. */
export const BANNED_GLOBALS: Readonly<Record<string, string>> = {
  setTimeout: 'use Platform.clock',
  setInterval: 'use Platform.clock',
  setImmediate: 'use Platform.clock',
  clearTimeout: 'use Platform.clock',
  clearInterval: 'use Platform.clock',
  clearImmediate: 'use Platform.clock',
  queueMicrotask: 'use an event domain of the Dispatcher',
  performance: 'use Platform.clock',
  process: 'use Platform.processes or Platform.env',
  console: 'use Platform.log',
  Buffer: 'use Uint8Array, TextEncoder and TextDecoder',
  crypto: 'use Platform.random or Platform.secrets',
  fetch: 'use Platform.network',
  WebSocket: 'use Platform.network',
};

const FILE_PATH = 'A URL is no path (a blank in it is %20): use fileURLToPath of node:url.';

/** Syntax that is banned in every file. */
export const BANNED_EVERYWHERE: readonly { readonly selector: string; readonly message: string }[] = [
  "MemberExpression[property.name='pathname'] > NewExpression.object MetaProperty",
  "VariableDeclarator:has(ObjectPattern > Property[key.name='pathname']) > NewExpression.init MetaProperty",
].map((selector) => ({ selector, message: FILE_PATH }));

/** Directories below the root in which machines keep what users or projects own. */
export const PERSONAL_DIRECTORIES: readonly string[] = [
  'home', 'Users', 'root', 'work', 'workspace', 'workspaces', 'data', 'scratch', 'project', 'projects', 'builds',
  'mnt', 'media', 'srv', 'nfs', 'lustre', 'gpfs', 'export', 'Volumes',
];
/** Owners of such directories in examples. */
export const EXAMPLE_OWNERS: readonly string[] = ['kim', 'me', 'u', 'user'];

/** Syntax of tests: what waits for time in place of a condition, and checks that cannot fail; selectors of ESLint. */
export const TEST_SYNTAX: readonly { readonly selector: string; readonly message: string }[] = [
  {
    selector: "Property[key.name='timeout'] > Literal[raw=/^[0-9_]+$/]",
    message: 'A deadline of a machine at rest: patient(…) multiplies it for others.',
  },
  {
    selector: "NewExpression[callee.name='Promise'] CallExpression[callee.name='setTimeout']"
      + "[arguments.0.type='Identifier']",
    message: 'No sleep: wait for a condition with a deadline, eventually(…).',
  },
  {
    selector: "ImportDeclaration[source.value='node:timers/promises']",
    message: 'No sleep: wait for a condition with a deadline, eventually(…).',
  },
  {
    selector: "CallExpression[callee.object.name='assert'][callee.property.name=/^(ok|not|is|equal)$/]"
      + "[arguments.0.type='Literal']",
    message: 'This cannot fail, or always does: what was found comes first, what is expected second.',
  },
  {
    selector: "CallExpression[callee.name='eventually'] > ArrowFunctionExpression[body.value=true]",
    message: 'This waits for nothing: give a condition.',
  },
  {
    selector: "ExpressionStatement > CallExpression[callee.name=/^(eventually|withDeadline)$/]",
    message: 'Nobody waits for this: await it.',
  },
  {
    selector: "ExpressionStatement > CallExpression[callee.object.name='assert'][callee.property.name='rejectsWith']",
    message: 'Nobody waits for this: await it.',
  },
  {
    selector: "CallExpression[callee.property.name='catch'][arguments.0.body.type='Identifier'] > MemberExpression "
      + "> CallExpression[callee.name='eventually']",
    message: 'A wait whose failure is dropped: assert what it came to.',
  },
  {
    selector: "ExpressionStatement > BinaryExpression[operator=/^([!=]==|<=?|>=?)$/]",
    message: 'A comparison that nobody looks at: assert it.',
  },
  {
    selector: "TryStatement[handler.body.body.length=0] > BlockStatement CallExpression[callee.object.name='assert']",
    message: 'The catch drops the failure of this assertion: assert outside, or that it throws.',
  },
  {
    selector: "CallExpression[callee.name='test'] > ArrowFunctionExpression > BlockStatement > IfStatement "
      + '> ReturnStatement[argument=null]',
    message: 'A test that ends early is green for nothing: return skip(reason), test.skipIf, or two tests.',
  },
];

/** Folder of core/src → those that its files may import, from the bottom up; docs/architecture.md says it too. */
export const FOLDER_RULES: Readonly<Record<string, readonly string[]>> = rows({
  codec: '',
  event: '',
  topology: '',
  iof: '',
  metrics: 'codec',
  job: '',
  binding: '',
  launcher: 'codec topology job',
  membership: 'event launcher',
  members: '',
  allocation: 'job',
  run: 'event iof job',
  detector: '',
  notifier: 'codec iof',
  errmgr: 'event',
  fault: '',
  bootcom: 'codec event',
  messages: 'codec event iof metrics job launcher',
  am: 'codec event iof bootcom messages',
  streams: 'codec event bootcom messages am',
  node: 'codec event metrics bootcom messages am streams',
  peers: 'members bootcom messages node',
  service: 'codec event job binding membership detector bootcom messages am node peers',
  pmi: 'codec event bootcom job messages am service',
  pmix: 'event job binding service pmi',
  assembly: 'topology binding launcher detector notifier errmgr fault bootcom node service pmi pmix',
  boot: 'codec event launcher membership bootcom messages node assembly',
  programs: 'codec event iof job bootcom messages am node service',
  injection: 'codec event job fault messages am node service',
  scrape: 'metrics messages service',
  overlay: 'codec event launcher membership members bootcom messages am node peers service boot',
  hosts: 'event job launcher membership messages am node assembly boot',
  jobs: 'codec event iof job membership messages am streams node service assembly hosts',
  failure: 'codec event iof metrics job membership members run detector messages node peers service jobs',
  tools: 'codec event iof metrics job binding launcher members messages am node service assembly boot jobs',
  agent: 'event launcher membership bootcom messages am node peers service assembly boot hosts tools',
  controller: 'event job membership detector bootcom messages am node peers service assembly boot injection scrape '
    + 'hosts jobs failure agent',
  sessions: 'event iof metrics job run bootcom messages am node injection hosts jobs controller',
});

/** Bound on the files of a source folder: of core, and of other packages. */
export const FILES_MAX_CORE = 20;
export const FILES_MAX = 30;

export function ruleOf(packageName: string): PackageRule | undefined {
  const exact = PACKAGE_RULES[packageName];
  if (exact !== undefined) return exact;
  const prefix = Object.keys(PACKAGE_RULES).find((key) => key.endsWith('-') && packageName.startsWith(key));
  return prefix === undefined ? undefined : PACKAGE_RULES[prefix];
}

/** The module of a specifier: `uvu/assert` → `uvu`, `@oclif/core/flags` → `@oclif/core`. */
export function moduleOf(specifier: string): string {
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function rows(table: Readonly<Record<string, string>>): Record<string, string[]> {
  const pairs = Object.entries(table).map(([folder, others]) => [folder, others.split(' ').filter(Boolean)]);
  return Object.fromEntries(pairs) as Record<string, string[]>;
}
