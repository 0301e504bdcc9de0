/**
 * I/O forwarding ("iof"), its pure part: turns chunks of output into lines, tags, file names and JSON. `stcirun`
 * connects it to descriptors and files, tests to arrays.
 */

export { NEWLINE, NEWLINE_BYTES, prefixLines, type TextCodec } from './bytes.js';
export { foldRanks } from './fold.js';
export { gatherHeader, groupOutput } from './gather.js';
export { makeLabel, TAG_MODES, type TagMode } from './label.js';
export { LineMerger, type LineMergerParams } from './line-merger.js';
export { OutputLines, type OutputLine } from './output-lines.js';
export { sourceId, sourceRank, sourceStream, type SourceId, type StreamName } from './source.js';
export { expandTemplate, parseTemplate, type OutputTemplate, type TemplateFacts } from './template.js';
