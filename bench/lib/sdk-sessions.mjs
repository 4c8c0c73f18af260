// Streamable HTTP like the SDK's own examples: a session and a transport for each client. The caller supplies the SDK.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

/** Serves on a free port and prints the port. `connect` connects a new session's transport to a server. */
export function serveSessions(Transport, connect) {
  const sessions = new Map();
  const begin = async () => {
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's transports are no event targets
    transport.onclose = () => sessions.delete(transport.sessionId);
    await connect(transport);
    return transport;
  };
  const http = createServer(async (request, response) => {
    const transport = sessions.get(request.headers["mcp-session-id"]) ?? (await begin());
    await transport.handleRequest(request, response);
  });
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
}
