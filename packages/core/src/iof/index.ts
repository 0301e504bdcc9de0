/**
 * I/O forwarding ("iof"), its pure part: what turns chunks of output into lines, tags, file names and JSON. `stcirun`
 * binds it to descriptors and files, tests to arrays.
 */

export { joinBytes, NEWLINE, NEWLINE_BYTES, prefixLines, type TextCodec } from './bytes.js';
export { foldRanks } from './fold.js';
export { gatherHeader, groupOutput, type Gathered, type GatherGroup } from './gather.js';
export { JsonLines, type JsonLinesParams } from './json-lines.js';
export { isoTime, makeLabel, TAG_MODES, type LabelParams, type TagMode } from './label.js';
export { LineMerger, type LineMergerParams } from './line-merger.js';
export { sourceId, sourceRank, sourceStream, type SourceId, type StreamName } from './source.js';
export { expandTemplate, parseTemplate, type OutputTemplate, type TemplateFacts } from './template.js';
