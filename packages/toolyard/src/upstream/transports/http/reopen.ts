const MAX_REOPEN_DELAY_MS = 30_000;
const MIN_REOPEN_DELAY_MS = 10;
/** Number of failed attempts for which the server's own `retry` value is used. */
const PATIENT_ATTEMPTS = 5;

/**
 * Returns the pause before a stream is opened again after `failures` consecutive failures: the server's value, else a
 * growing pause.
 */
export function reopenDelay(failures: number, firstMs: number, serverMs: number | undefined): number {
  const doublings = Math.max(0, failures - (serverMs === undefined ? 1 : PATIENT_ATTEMPTS));
  const wanted = Math.max(serverMs ?? firstMs, MIN_REOPEN_DELAY_MS) * 2 ** Math.min(doublings, 16);
  return Math.min(wanted, Math.max(MAX_REOPEN_DELAY_MS, Math.min(serverMs ?? 0, MAX_SERVER_DELAY_MS)));
}

const MAX_SERVER_DELAY_MS = 10 * 60_000;
