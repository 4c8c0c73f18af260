/** Error numbers of WASI preview1 that are used here. */
export const ERRNO = {
  success: 0,
  badf: 8,
  exist: 20,
  fault: 21,
  fbig: 22,
  inval: 28,
  io: 29,
  isdir: 31,
  mfile: 33,
  nametoolong: 37,
  noent: 44,
  nospc: 51,
  nosys: 52,
  notdir: 54,
  notempty: 55,
  notsup: 58,
  perm: 63,
  rofs: 69,
  spipe: 70,
} as const;

export type Errno = keyof typeof ERRNO;

/** Thrown to fail a call of the guest, which gets the number. */
export class GuestError extends Error {
  override readonly name = "GuestError";
  readonly errno: number;

  constructor(code: Errno) {
    super(code);
    this.errno = ERRNO[code];
  }
}

/**
 * Thrown when the guest exits. Code of the guest cannot catch it, because it unwinds the interpreter's whole call
 * stack.
 */
export class GuestExit extends Error {
  override readonly name = "GuestExit";
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/**
 * Thrown when the guest has booted, to leave its call stack, so that a snapshot of its memory can be stored. The guest
 * then continues on a new call stack.
 */
export class GuestParked extends Error {
  override readonly name = "GuestParked";
}
