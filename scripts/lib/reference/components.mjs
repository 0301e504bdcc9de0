/** docs/reference/components.md, from the registry. */

import { formatBounds, formatValue } from '../../../packages/registry/dist/index.js';
import { code, page, table } from './markdown.mjs';

const INTRODUCTION = `A framework is an interface and a way of selection; a component implements it
([../architecture.md](../architecture.md#frameworks)). Interfaces are in [contracts.md](contracts.md), parameters with
their bounds, defaults and meanings in [../parameters.md](../parameters.md). Components of packages outside:
[../plugins.md](../plugins.md).`;

const MODES = {
  one: 'one is selected: that with the highest priority',
  many: 'all that are allowed and accept, the highest priority first',
  keyed: 'by name, whenever an object is made',
};

export function componentsPage(registry) {
  return page('Frameworks and components', INTRODUCTION, registry.frameworks.flatMap((framework) => {
    const { name, mode, version, help, scope = 'session', always = [] } = framework;
    const components = registry.components(name);
    const facts = [
      ['mode', `${mode}: ${MODES[mode]}`],
      ['version of the interface', version],
      ['selected for', `each ${scope}`],
      ...(always.length > 0 ? [['always there', always.map(code).join(', ')]] : []),
      ['parameters', parameters(framework.name, framework.params)],
    ];
    return [
      `## ${name}`, '', help, '', ...table(['', ''], facts), '',
      ...components.flatMap((component) => componentLines(name, component)),
    ];
  }));
}

function componentLines(framework, { name, version, help, params, args = {} }) {
  const lines = [`### ${framework}: ${name}`, '', help, ''];
  lines.push(`Version ${version}. Parameters: ${parameters(`${framework}.${name}`, params)}.`, '');
  if (Object.keys(args).length === 0) return lines;
  const rows = Object.entries(args).map(([key, spec]) =>
    [code(key), spec.type, formatBounds(spec), formatValue(spec, spec.default) || 'empty', spec.help]);
  return [...lines, 'Arguments:', '', ...table(['argument', 'type', 'bounds', 'default', 'meaning'], rows), ''];
}

function parameters(prefix, params) {
  const names = Object.keys(params).map((name) => code(`${prefix}.${name}`));
  return names.length === 0 ? 'none' : names.join(', ');
}
