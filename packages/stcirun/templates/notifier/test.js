/** What every notifier promises: all choices of agents that fail, for small numbers, and drawn ones. */

import { notifierCompliance } from '@stci/compliance';
import { component } from './index.js';

notifierCompliance(component, { seeds: 200 });
