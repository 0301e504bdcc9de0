/** Commands that examples and running text show. */
// @timeoutMs 300000
// @sameFor user, node: jobs of one user, as in stcirun; what depends on him is in documents-users.

import { isOfUsers } from './documents.js';
import { runDocuments } from './documents-run.js';

const isOther = (path: string): boolean => !path.startsWith('docs/') && !isOfUsers(path);

runDocuments('commands that examples show', isOther, { inline: true });
