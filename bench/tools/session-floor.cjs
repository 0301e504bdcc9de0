// The minimum of a job in a session that runs: one client, which connects nowhere, and the job's processes.
const { spawn } = require('node:child_process');

for (let rank = 0; rank < Number(process.argv[2]); rank++) spawn('true', { stdio: 'ignore' });
