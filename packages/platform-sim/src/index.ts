/** Platform on one event heap: virtual clock, seeded random, hosts, processes, channels, faults. */

export { createWorld, World, type LogLine } from './world.js';
export type { WorldOptions, WorldSizes, WorldTimes } from './world-options.js';
export { SimHost, type AgentContext, type AgentMain } from './host.js';
export { ProcessTable, SimProcess, type ProcessState } from './process-table.js';
export { CODE, Scheduler, type Fault, type RunLimits, type RunOutcome } from './scheduler.js';
export { SimEvent, EventQueue, type EventOwner } from './event-queue.js';
export { SimRandom } from './random.js';
export { Link, type LinkParams } from './link.js';
export { Flow, type FlowUse } from './flow.js';
export { SimChannel } from './channel.js';
export { Tool, textBytes, type ForkOptions, type OutputName, type ToolProgram } from './tool.js';
export { PROGRAMS, lineBytes } from './programs.js';
