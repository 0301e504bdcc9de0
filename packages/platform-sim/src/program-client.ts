/** The client library of simulated programs: records over the socket of the session agent, calls with callbacks. */

import {
  AGENT_LINE_BYTES_MAX, PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PROTOCOL, PROGRAM_SOCKET_VARIABLE, PROGRAM_TOKEN_VARIABLE,
  RecordReader, programRecord, type ProgramEvent, type ProgramRequest,
} from '@stci/interface';
import type { Tool } from './tool.js';

export type OnEvent = (event: ProgramEvent, bytes: Uint8Array) => void;
export type SendRequest = (request: ProgramRequest, bytes?: Uint8Array) => void;

/** What the client library does: connects to the session agent, ends with the status of an injected fault. */
export function connectProgram(tool: Tool, onEvent: OnEvent): SendRequest {
  const channel = tool.connect(tool.env[PROGRAM_SOCKET_VARIABLE] ?? '');
  const send: SendRequest = (request, bytes) => void channel.send([programRecord(request, bytes)]);
  const limits = { lineBytesMax: AGENT_LINE_BYTES_MAX, bytesMax: PROGRAM_MESSAGE_BYTES_MAX };
  const reader = new RecordReader(limits, (head, bytes) => {
    const event = head as unknown as ProgramEvent;
    if (event.type === 'exit') tool.exit(event.status);
    else onEvent(event, bytes);
  });
  channel.bind({
    onData: (chunk) => void reader.add(chunk),
    onDrain: () => undefined,
    onClose: () => tool.exit(1),
  });
  send({ type: 'hello', version: PROGRAM_PROTOCOL, token: tool.env[PROGRAM_TOKEN_VARIABLE] ?? '' });
  return send;
}
