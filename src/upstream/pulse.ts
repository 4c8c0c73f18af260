import { Deadline } from "../core/deadline.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "./faults.ts";

/**
 * Whether a server hangs, asked after a call timed out: nothing was heard since the call began, no other call is under way, and a ping
 * gets no answer within `pulseMs`. Over HTTP one request may hang alone, so there it is never the whole server.
 */
export async function hangs(connection: Connection, startedAt: number, pulseMs: number): Promise<boolean> {
  const mayHang = (): boolean => connection.isPipe && !connection.closed && connection.heardAt <= startedAt && connection.callsInFlight === 0;
  if (!mayHang()) return false;
  const deadline = new Deadline({ idleMs: pulseMs, totalMs: pulseMs });
  try {
    await connection.ping(deadline.signal);
    return false;
  } catch (error) {
    return failureOf(error).kind === "timeout" && mayHang();
  } finally {
    deadline.clear();
  }
}
