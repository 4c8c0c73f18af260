/** Objects, lists and values that are sent to a thread: to copy them takes the event loop some 20 ms. */
export const MAX_SENT_ITEMS = 20_000;
/** Characters likewise, of names and texts. */
export const MAX_SENT_CHARS = 16 * 1024 * 1024;
/** Largest schema, in characters of JSON. */
export const MAX_SCHEMA_CHARS = 1024 * 1024;
/** Threads for schemas that are new or known to be slow. */
export const MAX_SLOW_THREADS = 2;
/** Threads for schemas that are known to be quick: these never wait for the others. */
export const MAX_QUICK_THREADS = 1;
/** Threads of a lane that may work for one source at a time, so that its schemas do not delay the others. */
export const MAX_THREADS_OF_SOURCE = 1;
/**
 * A job that others wait for gives way to them after so long, and begins anew behind them; each time it may take
 * `SLICE_GROWTH` times as long.
 */
export const SLICE_MS = 500;
/**
 * Giving way costs a thread: the job has then run this many times the thread's start time, however slow the machine.
 */
export const SLICE_STARTS = 3;
export const SLICE_GROWTH = 4;
/** A schema that takes longer to compile, or to check one value against, is slow. */
export const QUICK_MS = 50;
/** Until a thread has to be there. */
export const START_TIMEOUT_MS = 20_000;
/** Time to compile one schema. This and the next limit are computing time, as measured by `WorkClock`. */
export const COMPILE_TIMEOUT_MS = 5_000;
/** To check one value. */
export const CHECK_TIMEOUT_MS = 3_000;
/** If a value with at most this many items takes longer than that, the schema is at fault. */
export const FEW_ITEMS = 1_000;
/** Heap of one thread. */
export const THREAD_HEAP_MB = 256;
/** A thread that was idle for this time is ended. */
export const IDLE_MS = 30_000;
/** Values that wait for a thread of one lane. */
export const MAX_WAITING = 1_000;
/** Characters of the schemas that one thread keeps compiled; beyond it, it begins anew. */
export const MAX_KEPT_CHARS = 4 * 1024 * 1024;
/** Verdicts that are kept; the oldest goes first. */
export const MAX_VERDICTS = 5_000;
