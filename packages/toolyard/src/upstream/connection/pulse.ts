import { Deadline } from "../../core/calls/deadline.ts";
import type { Fail } from "../../core/calls/outcome.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "../faults.ts";

/**
 * Returns whether a server hangs; checked after a call has timed out. It hangs if no message has arrived since the call
 * started, no other call is in flight, and a ping gets no answer within `pulseMs`. Always returns false over HTTP,
 * where one request may hang without the others.
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
 * Returns whether the whole connection cannot be used after a delivery failure. Over HTTP, requests fail separately: a
 * server that is busy or refuses one request may still answer others.
 */
export function isUseless(connection: Connection, { details }: Fail): boolean {
  if (connection.isPipe || connection.closed !== undefined || details?.["sessionLost"] === true) return true;
  return details?.["status"] === undefined && connection.callsInFlight === 0;
}
