/** Formats one event. `data` must not contain a line break; JSON text never does. */
export function formatSseEvent(data: string, options: { event?: string; id?: string; retryMs?: number } = {}): string {
  const id = options.id === undefined ? "" : `id: ${options.id}\n`;
  const event = options.event === undefined ? "" : `event: ${options.event}\n`;
  const retry = options.retryMs === undefined ? "" : `retry: ${options.retryMs}\n`;
  return `${event}${id}${retry}data: ${data}\n\n`;
}

/** Comment that keeps proxies from closing a quiet stream. */
export const SSE_KEEP_ALIVE = ": keep-alive\n\n";
