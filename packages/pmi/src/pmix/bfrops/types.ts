/** Types of PMIx that cross the wire: their numbers, and what each is here. Texts are byte texts. */

/** Type → its number. v4 is v41 without 60. */
export const PMIX_TYPE = {
  undef: 0, bool: 1, byte: 2, string: 3, size: 4, pid: 5, int: 6, int8: 7, int16: 8, int32: 9, int64: 10, uint: 11,
  uint8: 12, uint16: 13, uint32: 14, uint64: 15, float: 16, double: 17, timeval: 18, time: 19, status: 20, value: 21,
  proc: 22, app: 23, info: 24, pdata: 25, buffer: 26, byteObject: 27, kval: 28, persistence: 30, pointer: 31, scope: 32,
  range: 33, command: 34, infoDirectives: 35, dataType: 36, procState: 37, procInfo: 38, dataArray: 39, rank: 40,
  query: 41, allocDirective: 43, iofChannel: 45, envar: 46, regattr: 48, jobState: 50, linkState: 51, devType: 57,
  locType: 58, compressed: 59, nspace: 60,
} as const;

export type PmixTypeName = keyof typeof PMIX_TYPE;

/** Ranks that are no process. */
export const PMIX_RANK = { undefined: 0xffff_ffff, wildcard: 0xffff_fffe } as const;

export interface PmixProc {
  readonly nspace: string;
  readonly rank: number;
}

export interface PmixInfo {
  readonly key: string;
  /** Absent: 0. */
  readonly directives?: number;
  readonly value: PmixValue;
}

/** A key with its value as it is on the wire, which is the same in both buffer forms: what is only passed on. */
export interface PmixKval {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** A row of a table of processes; the exit code of theirs is not on the wire. */
export interface PmixProcInfo {
  readonly proc: PmixProc;
  readonly host: string | null;
  readonly program: string | null;
  readonly pid: number;
  readonly state: number;
}

export interface PmixPdata {
  readonly proc: PmixProc;
  readonly key: string;
  readonly value: PmixValue;
}

export interface PmixApp {
  readonly command: string | null;
  readonly args: readonly string[];
  readonly env: readonly string[];
  readonly cwd: string | null;
  readonly processesMax: number;
  readonly infos: readonly PmixInfo[];
}

export interface PmixQuery {
  readonly keys: readonly string[];
  readonly qualifiers: readonly PmixInfo[];
}

export interface PmixEnvar {
  readonly name: string | null;
  readonly value: string | null;
  readonly separator: number;
}

export interface PmixRegattr {
  readonly name: string | null;
  readonly key: string | null;
  readonly type: number;
  readonly descriptions: readonly string[];
}

/** `1`: values without tags of their type; `2`: with. */
export type BufferForm = 1 | 2;
export const BUFFER_FORM = { plain: 1, described: 2 } as const;

export interface PmixBuffer {
  readonly form: BufferForm;
  readonly bytes: Uint8Array;
}

export interface PmixDataArray {
  readonly type: PmixTypeName;
  readonly items: readonly PmixData[];
}

export interface PmixTimeval {
  readonly seconds: bigint;
  readonly microseconds: bigint;
}

/** What a value of each type is; a string may be NULL. */
export interface PmixTypes {
  undef: undefined;
  bool: boolean;
  byte: number;
  string: string | null;
  size: bigint;
  pid: number;
  int: number;
  int8: number;
  int16: number;
  int32: number;
  int64: bigint;
  uint: number;
  uint8: number;
  uint16: number;
  uint32: number;
  uint64: bigint;
  float: number;
  double: number;
  timeval: PmixTimeval;
  time: bigint;
  status: number;
  value: PmixValue;
  proc: PmixProc;
  app: PmixApp;
  info: PmixInfo;
  pdata: PmixPdata;
  buffer: PmixBuffer;
  byteObject: Uint8Array;
  kval: PmixKval;
  persistence: number;
  pointer: undefined;
  scope: number;
  range: number;
  command: number;
  infoDirectives: number;
  dataType: number;
  procState: number;
  procInfo: PmixProcInfo;
  dataArray: PmixDataArray;
  rank: number;
  query: PmixQuery;
  allocDirective: number;
  iofChannel: number;
  envar: PmixEnvar;
  regattr: PmixRegattr;
  jobState: number;
  linkState: number;
  devType: bigint;
  locType: number;
  compressed: Uint8Array;
  nspace: string | null;
}

export type PmixData = PmixTypes[PmixTypeName];

/** A value with its type. */
export type PmixValue = {
  readonly [K in PmixTypeName]: { readonly type: K; readonly data: PmixTypes[K] };
}[PmixTypeName];
