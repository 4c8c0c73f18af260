import { Deadline } from "../../core/calls/deadline.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "../faults.ts";

/**
 * Whether a server hangs, asked after a call timed out: nothing was heard since the call began, no other call is under
 * way, and a ping gets no answer within `pulseMs`. Over HTTP one request may hang alone, so there it is never the whole
 * server.
 */
export async function hangs(connection: Connection, startedAt: number, pulseMs: number): Promise<boolean> {
  const mayHang = (): boolean =>
    connection.isPipe && !connection.closed && connection.heardAt <= startedAt && connection.callsInFlight === 0;
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

/**
 * Whether a message that did not get through says that the whole connection is of no use. Requests on HTTP fail one by
 * one: a server that is busy, or does not take one more, may still be working for others over the same connection.
 */
export function isUseless(connection: Connection, { details }: Fail): boolean {
  if (connection.isPipe || connection.closed !== undefined || details?.["sessionLost"] === true) return true;
  return details?.["status"] === undefined && connection.callsInFlight === 0;
}
