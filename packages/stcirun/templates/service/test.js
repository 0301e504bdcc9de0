/** What every service promises: in jobs of a model, whose ranks and hosts may be lost. */

import { serviceCompliance } from '@stci/compliance';
import { component } from './index.js';

serviceCompliance(component);
