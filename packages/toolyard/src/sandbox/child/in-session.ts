import type { WorkerDone } from "../worker-messages.ts";
import type { RunWorker } from "./run-worker.ts";
import type { InterpreterSessions, SessionWish } from "./sessions.ts";

export interface SessionRun extends SessionWish {
  begin(): RunWorker;
  /** Runs the job on the session's worker. */
  perform(worker: RunWorker, isNew: boolean): Promise<WorkerDone>;
}

/** Time in milliseconds from the end of a run until its worker must report that it is ready for the next one. */
const FREE_WITHIN_MS = 1000;

/**
 * Results after which a session is kept. After any other result, the interpreter may be in the middle of an operation.
 */
const KEEPS_SESSION: ReadonlySet<string> = new Set(["finished", "error"]);

/** Runs a job in a session. The session is kept if the run ended normally and its worker waits for the next job. */
export async function runInSession(sessions: InterpreterSessions, run: SessionRun): Promise<WorkerDone> {
  const taken = sessions.take(run, run.begin);
  if (typeof taken === "string") return refused(taken);
  let done: WorkerDone | undefined;
  try {
    done = await run.perform(taken.worker, taken.isNew);
    // The session is kept only if the worker is ready, because code can report its end and continue, and no time limit
    // would apply to it then.
    if (KEEPS_SESSION.has(done.end) && (await taken.worker.afterJob(FREE_WITHIN_MS)) === "busy") done = wentOn();
    return done;
  } finally {
    sessions.giveBack(taken, done !== undefined && KEEPS_SESSION.has(done.end));
  }
}

export function refused(message: string): WorkerDone {
  return { end: "busy", error: { type: "Busy", message, traceback: "" }, artifacts: [], truncated: false };
}

function wentOn(): WorkerDone {
  const message = "The code continued after it had reported its end, and was ended.";
  return { end: "crashed", error: { type: "Crashed", message, traceback: "" }, artifacts: [], truncated: false };
}
