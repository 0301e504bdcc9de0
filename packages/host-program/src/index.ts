/**
 * Programs that run on a host before the agent is there, for launcherprocs that have nothing there but a shell and a
 * Node: they find the node and the agent's bundle; and the reader of their answers. Pure texts.
 */

export { PROGRAM_TEXT, waitProgram } from './agent-program.js';
export { AnswerReader, BANNER_BYTES_MAX } from './answers.js';
export type { Answer, FailedPhase } from './answers.js';
export { base64 } from './base64.js';
export { MAKE_DIRECTORY, NODE_MAJOR_MIN, SHELL_TEXT, hostProgram, shellText } from './loader.js';
export { escapedText, hex, hexWord, localCommand, printfText, programWord } from './words.js';
