/** What an agent holds, as it tells: the rows of its scope, within their bounds. */

import { list, str, tuple, u32 } from '../codec/shape.js';
import { HELD_LABEL_CHARS_MAX, HELD_ROWS_MAX } from '../event/scope.js';

export const heldRows = list(tuple(u32, str(HELD_LABEL_CHARS_MAX), u32), HELD_ROWS_MAX);
