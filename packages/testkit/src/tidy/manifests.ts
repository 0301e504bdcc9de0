/**
 * package.json files, tsconfig references and the lockfile: exact versions, only dependencies that the tables permit
 * and docs/dependencies.md explains, every package in the build, no registry in the lockfile.
 */

import { DEV_DEPENDENCIES, DEV_DEPENDENCIES_OF, TOOL_PACKAGES, moduleOf, ruleOf } from './house.js';
import type { Finding, Tree } from './tree.js';

interface Manifest {
  readonly path: string;
  /** Directory name below packages/; `` for the root. */
  readonly packageName: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const EXPLAINED_IN = 'docs/dependencies.md';

export function checkManifests(tree: Tree): Finding[] {
  return manifests(tree).flatMap((manifest) => [
    ...checkVersions(manifest),
    ...checkAllowed(manifest),
    ...checkExplained(manifest, tree.get(EXPLAINED_IN) ?? ''),
  ]);
}

/** Every package, with its tests, must be in the root tsconfig.json: else it is not built, and its tests do not run. */
export function checkReferences(tree: Tree): Finding[] {
  const root = tree.get('tsconfig.json');
  if (root === undefined) return [{ path: 'tsconfig.json', line: 0, text: 'missing' }];
  const { references } = JSON.parse(root) as { references: { path: string }[] };
  const known = new Set(references.map(({ path }) => path));
  const wanted = [...tree.keys()]
    .map((path) => /^(packages\/[^/]+(?:\/test)?)\/tsconfig\.json$/.exec(path)?.[1])
    .filter((path) => path !== undefined);
  return wanted
    .filter((path) => !known.has(path))
    .map((path) => ({ path: 'tsconfig.json', line: 0, text: `its references lack ${path}` }));
}

export function checkLockfile(tree: Tree): Finding[] {
  const lines = (tree.get('pnpm-lock.yaml') ?? '').split('\n');
  const text = 'names a registry; install without one in the configuration';
  return lines.flatMap((line, index) =>
    /tarball:|https?:\/\//.test(line) ? [{ path: 'pnpm-lock.yaml', line: index + 1, text }] : []);
}

function checkVersions({ path, dependencies, devDependencies }: Manifest): Finding[] {
  return Object.entries({ ...dependencies, ...devDependencies })
    .filter(([name, version]) => !(name.startsWith('@stci/') ? /^workspace:\*$/ : /^\d+\.\d+\.\d+$/).test(version))
    .map(([name, version]) => ({ path, line: 0, text: `${name} ${version}: write an exact version or workspace:*` }));
}

function checkAllowed({ path, packageName, dependencies, devDependencies }: Manifest): Finding[] {
  if (packageName === '') return [];
  const finding = (name: string, as: string): Finding => ({
    path, line: 0, text: `${name} is not allowed as a ${as} of ${packageName}: see packages/testkit/src/tidy/house.ts`,
  });
  const dev = [...DEV_DEPENDENCIES, ...(DEV_DEPENDENCIES_OF[packageName] ?? []), ...(TOOL_PACKAGES[packageName] ?? [])];
  return [
    ...Object.keys(dependencies)
      .filter((name) => !mayDepend(packageName, name))
      .map((name) => finding(name, 'dependency')),
    ...Object.keys(devDependencies)
      .filter((name) => !name.startsWith('@stci/') && !dev.includes(name) && !mayDepend(packageName, name))
      .map((name) => finding(name, 'development dependency')),
  ];
}

function mayDepend(packageName: string, name: string): boolean {
  const rule = ruleOf(packageName);
  if (rule === undefined) return false;
  const entries = rule.workspace.map(moduleOf);
  if (name.startsWith('@stci/')) return entries.includes(name) || entries.includes('@stci/*');
  return Object.hasOwn(rule.external, name);
}

function checkExplained({ path, dependencies, devDependencies }: Manifest, text: string): Finding[] {
  return Object.entries({ ...dependencies, ...devDependencies })
    .filter(([name, version]) => !name.startsWith('@stci/') && !text.includes(`| \`${name}\` | ${version} |`))
    .map(([name, version]) => ({ path, line: 0, text: `${EXPLAINED_IN} has no row | \`${name}\` | ${version} |` }));
}

function manifests(tree: Tree): Manifest[] {
  return [...tree].flatMap(([path, text]) => {
    const match = /^(?:(?:packages\/)?([^/]+)\/)?package\.json$/.exec(path);
    if (match === null) return [];
    const { dependencies = {}, devDependencies = {} } = JSON.parse(text) as Partial<Manifest>;
    return [{ path, packageName: match[1] ?? '', dependencies, devDependencies }];
  });
}
