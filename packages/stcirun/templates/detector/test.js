/**
 * What every detector promises: on a model of a network, by seeds, and on real sockets. Deaths that hide each other
 * are told one after the other: whoever watched the last living one takes over.
 */

import { detectorCompliance } from '@stci/compliance';
import { component } from './index.js';

detectorCompliance(component, [{ label: 'fast', params: { period: '100ms', timeout: '300ms' } }]);
