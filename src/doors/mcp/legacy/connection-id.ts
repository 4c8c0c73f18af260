let lastConnection = 0;

/** Names a connection to the rest of the hub. It is no session id: those open doors, and this may stand in a log. */
export function connectionId(): string {
  lastConnection += 1;
  return `mcp-${lastConnection}`;
}
