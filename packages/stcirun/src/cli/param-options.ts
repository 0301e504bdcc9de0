/** Options that are short for parameters, such as `--launcher NAME`. */

import { StciError } from '@stci/interface';
import { pluginPairs } from '../plugin/params.js';
import type { FlagValues } from './parse-options.js';
import { peerParameter } from './peers.js';
import type { Pair } from './values.js';

/** `origin`: the option, for messages. */
export type GivenPair = Pair & { readonly origin: string };

/** The pairs of `--mca` with their origin, where they have none. Throws STCI_PARAM_UNKNOWN for those of Open MPI. */
export function mcaPairs(mca: readonly (Pair & { readonly origin?: string })[] = []): readonly GivenPair[] {
  return mca.map((pair) => {
    const given = { origin: `--mca ${pair.key}=${pair.value}`, ...pair };
    const hint = peerParameter(pair.key, pair.value);
    if (hint !== undefined) throw new StciError('STCI_PARAM_UNKNOWN', `${given.origin}: ${hint}.`);
    return given;
  });
}

type FailureFlags = Partial<Pick<FlagValues, 'on-failure' | 'client' | 'mpi' | 'with-ft' | 'on-launch-failure'
  | 'min-hosts' | 'spares'>>;
type BindingFlags = Partial<Pick<FlagValues, 'map-by' | 'bind-to' | 'cpus-per-rank' | 'report-bindings'>>;

/** Options that stand for parameters; a command may have some of them. */
interface ParamFlags extends FailureFlags, BindingFlags {
  readonly mca?: readonly Pair[] | undefined;
  readonly launcher?: string | undefined;
  readonly plugin?: readonly string[] | undefined;
  readonly overlay?: string | undefined;
}

/** `--mca` and its short forms, in order. */
export function mcaOf(flags: ParamFlags): readonly GivenPair[] {
  const short = (option: string, key: string, value: string | undefined): readonly GivenPair[] => {
    return value === undefined ? [] : [{ key, value, origin: `--${option} ${value}` }];
  };
  const onFailure = flags['on-failure'];
  return [
    ...mcaPairs(flags.mca),
    ...short('launcher', 'launcherproc', flags.launcher),
    ...pluginPairs(flags.plugin),
    ...short('overlay', 'overlay.topology', flags.overlay),
    ...(flags['with-ft'] === undefined || onFailure !== undefined ? []
      : [{ key: 'errmgr', value: 'notify', origin: `--with-ft ${flags['with-ft']}` }]),
    ...(onFailure?.pairs ?? []).map((pair) => ({ ...pair, origin: `--on-failure ${onFailure?.text}` })),
    ...(flags.client === true ? [{ key: 'client.enable', value: 'true', origin: '--client' }] : []),
    ...(flags.mpi === undefined || flags.mpi === 'auto' ? []
      : [{ key: 'pmi', value: flags.mpi === 'none' ? NO_PMI : flags.mpi, origin: `--mpi ${flags.mpi}` }]),
    ...short('map-by', 'binding.map', flags['map-by']?.within),
    ...short('bind-to', 'binding.to', flags['bind-to']),
    ...short('cpus-per-rank', 'binding.cpus', flags['cpus-per-rank']?.toString()),
    ...(flags['report-bindings'] === true
      ? [{ key: 'binding.report', value: 'true', origin: '--report-bindings' }] : []),
    ...launchFailureOf(flags),
  ];
}

/** Leaves out each protocol there is. */
const NO_PMI = '^pmi1,pmix';

/** What spare hosts are for, where nothing else is said. */
const FOR_SPARES: readonly Pair[] = [
  { key: 'errmgr.launch', value: 'spare' }, { key: 'errmgr.loss', value: 'use-spare' },
];

/** `--spares` and `--min-hosts` mean policies of their own where none is named. */
function launchFailureOf(flags: ParamFlags): readonly GivenPair[] {
  const given = flags['on-launch-failure'];
  const minHosts = flags['min-hosts'];
  const pairs: { key: string; value: string; origin: string }[] = [];
  const key = 'errmgr.launch';
  const least = `--min-hosts ${minHosts}`;
  const isSet = (wanted: string): boolean => (flags.mca ?? []).some((pair) => pair.key === wanted);
  if (given !== undefined) {
    const origin = `--on-launch-failure ${given.text}`;
    pairs.push({ key, value: given.policy, origin });
    if (given.count !== undefined) pairs.push({ key: `${key}.retries`, value: given.count, origin });
  } else if (minHosts !== undefined && !isSet(key)) {
    pairs.push({ key, value: 'shrink', origin: least });
  }
  for (const pair of flags.spares === undefined ? [] : FOR_SPARES) {
    const isGiven = isSet(pair.key) || (pair.key === key && given !== undefined);
    if (!isGiven) pairs.push({ ...pair, origin: `--spares ${flags.spares}` });
  }
  if (minHosts !== undefined) pairs.push({ key: `${key}.min`, value: String(minHosts), origin: least });
  return pairs;
}
