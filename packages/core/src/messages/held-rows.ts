/** What an agent holds, as it tells: the rows of its scope, within their bounds. */

import { integer, list, str, tuple, u32 } from '../codec/shape.js';
import { HELD_DEPTH_MAX, HELD_LABEL_CHARS_MAX, HELD_ROWS_MAX } from '../event/scope.js';

export const heldRows = list(tuple(integer(0, HELD_DEPTH_MAX), str(HELD_LABEL_CHARS_MAX), u32), HELD_ROWS_MAX);
