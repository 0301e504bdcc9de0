/** Commands that README and docs show, of which it matters who types them. */
// @timeoutMs 300000

import { isOfUsers } from './documents.js';
import { runDocuments } from './documents-run.js';

runDocuments('commands that README and docs show, for each user', isOfUsers, { inline: false });
