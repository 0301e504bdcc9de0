/**
 * Components `pbs` and `lsf` of framework `allocation`: batch systems that write the hosts of a job into a file, a line
 * for each slot, and name it by a variable. Slots are a bound.
 */

import { accept, builtinComponent, decline } from '@stci/interface';
import type { AnyComponent } from '@stci/interface';
import { parseHostfile } from '../job/hostfile.js';
import { allocationFramework } from './framework.js';

type Variables = Readonly<Record<string, string>>;

interface NodeFile {
  readonly name: string;
  readonly system: string;
  /** Variables: of the file, and of the job's name. */
  readonly file: string;
  readonly job: string;
}

function nodeFileComponent({ name, system, file, job }: NodeFile): AnyComponent {
  const jobText = (variables: Variables): string => `${system} job ${variables[job] ?? ''}`.trim();
  return builtinComponent({
    framework: allocationFramework,
    name,
    help: `Inside of a job of ${system}: its hosts, of the file that ${file} names.`,
    query: ({ facts }) => {
      const variables = (facts['variables'] ?? {}) as Variables;
      const path = variables[file] ?? '';
      if (path === '') return decline(`not in a job of ${system}: ${file} is not set`);
      return accept(70, `${jobText(variables)}: the hosts of ${file}, ${path}`);
    },
    create: ({ variables, readFile }) => ({
      place: `in ${jobText(variables)}`,
      takesNames: false,
      hosts: () => {
        const path = variables[file] ?? '';
        return parseHostfile(path, readFile(file, path)).map((host) => ({ ...host, slotsBound: true }));
      },
    }),
  });
}

export const allocationPbs = nodeFileComponent({
  name: 'pbs', system: 'PBS', file: 'PBS_NODEFILE', job: 'PBS_JOBID',
});

export const allocationLsf = nodeFileComponent({
  name: 'lsf', system: 'LSF', file: 'LSB_DJOB_HOSTFILE', job: 'LSB_JOBID',
});
