/**
 * Maximum number of objects, lists and values that are sent to a thread: copying them blocks the event loop for about
 * 20 ms.
 */
export const MAX_SENT_ITEMS = 20_000;
/** Maximum number of characters of names and texts that are sent to a thread. */
export const MAX_SENT_CHARS = 16 * 1024 * 1024;
/** Maximum size of a schema in characters of JSON. */
export const MAX_SCHEMA_CHARS = 1024 * 1024;
/** Maximum number of threads for schemas that are new or known to be slow. */
export const MAX_SLOW_THREADS = 2;
/** Maximum number of threads for schemas that are known to be fast: they never wait for slow ones. */
export const MAX_QUICK_THREADS = 1;
/**
 * Maximum number of threads in a lane that work for one source at a time, so that its schemas do not delay the others.
 */
export const MAX_THREADS_OF_SOURCE = 1;
/**
 * Time after which a job is interrupted if others wait. It is started again after them, and may then run `SLICE_GROWTH`
 * times as long.
 */
export const SLICE_MS = 500;
/**
 * Minimum time that a job runs before it is interrupted, as a multiple of the start time of its thread. An interruption
 * ends the thread, so without this minimum, a slow machine would spend its time on starting threads.
 */
export const SLICE_STARTS = 3;
export const SLICE_GROWTH = 4;
/** Time in milliseconds to compile a schema, or to check one value, above which the schema counts as slow. */
export const QUICK_MS = 50;
/** Time in which a thread must have started. */
export const START_TIMEOUT_MS = 20_000;
/** Time limit to compile one schema. This and the next limit are processor time, as measured by `WorkClock`. */
export const COMPILE_TIMEOUT_MS = 5_000;
/** Time limit to check one value. */
export const CHECK_TIMEOUT_MS = 3_000;
/**
 * If the check of a value with at most this many items exceeds the time limit, the schema counts as unusable, not the
 * value.
 */
export const FEW_ITEMS = 1_000;
/** Maximum heap of one thread in MB. */
export const THREAD_HEAP_MB = 256;
/** Idle time after which a thread is ended. */
export const IDLE_MS = 30_000;
/** Maximum number of values that wait for a thread of one lane. */
export const MAX_WAITING = 1_000;
/** Maximum number of characters of the schemas that one thread keeps compiled; above it, a new thread replaces it. */
export const MAX_KEPT_CHARS = 4 * 1024 * 1024;
/** Maximum number of cached verdicts; the oldest is removed first. */
export const MAX_VERDICTS = 5_000;
