/** Commands that README and docs show, of which it matters who types them. */
// @timeoutMs 600000

import { isOfUsers } from './documents.js';
import { runDocuments, runTyped } from './documents-run.js';

runDocuments('commands that README and docs show, for each user', isOfUsers, { inline: false });
runTyped('README.md');
