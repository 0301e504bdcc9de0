/** Framework `notifier` (STCI paper, II-F.2), keyed: how all survivors are told of a failure. */

import { defineFramework, type NoDeps, type NotifierModule } from '@stci/interface';

export const notifierFramework = defineFramework<NotifierModule, NoDeps>({
  name: 'notifier',
  mode: 'keyed',
  version: 2,
  help: 'How all survivors are told of a failure.',
  params: {},
});
