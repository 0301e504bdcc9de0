#!/usr/bin/env node
/**
 * Stands for srun: runs its tasks on this machine, under the names of the hosts. Input goes to all, output is labelled,
 * ends are told as srun tells them. A host that is called `bad` is not reached, which ends the step.
 */
'use strict';

const { spawn } = require('node:child_process');

const args = process.argv.slice(2);
const nodelist = (args.find((arg) => arg.startsWith('--nodelist=')) ?? '').slice('--nodelist='.length);
/** `h[0-1]` and `bad`; numbers of one digit. */
const hosts = (nodelist.match(/[^,[]+(\[[^\]]*\])?/g) ?? []).flatMap((word) => {
  const [name, ranges] = word.split(/[[\]]/);
  if (ranges === undefined) return [name];
  return ranges.split(',').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number);
    return Array.from({ length: to - from + 1 }, (_, i) => `${name}${from + i}`);
  });
});
const [program, ...rest] = args.slice(args.indexOf('/bin/sh'));
const variables = { SLURM_JOB_ID: '9', SLURM_STEP_ID: String(process.pid) };
let status = 0;

function label(task, stream, to) {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop();
    for (const line of lines) to.write(`${task}: ${line}\n`);
  });
}

const say = (words) => process.stderr.write(`srun: ${words}\n`);

const tasks = hosts.filter((host) => host !== 'bad').map((host, task) => {
  const child = spawn(program, rest, { stdio: 'pipe', env: { ...process.env, ...variables, SLURMD_NODENAME: host } });
  label(task, child.stdout, process.stdout);
  label(task, child.stderr, process.stderr);
  child.stdin.on('error', () => undefined);
  child.on('exit', (code, signal) => {
    status = Math.max(status, code ?? 137);
    if (signal !== null) say(`error: ${host}: task ${task}: Killed`);
    else if (code > 0) say(`error: ${host}: task ${task}: Exited with exit code ${code}`);
  });
  return child;
});

function abort(code) {
  status = code;
  for (const task of tasks) task.kill('SIGKILL');
  process.stdin.destroy();
}

process.on('SIGTERM', () => {
  say('forcing job termination');
  abort(137);
});
if (hosts.includes('bad')) {
  say('error: Task launch for StepId=9.0 failed on node bad: Communication connection failure');
  say('Job step aborted: Waiting up to 7 seconds for job step to finish.');
  abort(233);
} else {
  process.stdin.on('data', (chunk) => tasks.forEach((task) => task.stdin.write(chunk)));
  process.stdin.on('end', () => tasks.forEach((task) => task.stdin.end()));
}
let open = tasks.length;
for (const task of tasks) {
  task.on('close', () => {
    open -= 1;
    if (open > 0) return;
    process.stdin.destroy();
    process.exitCode = status;
  });
}
