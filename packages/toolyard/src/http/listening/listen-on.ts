import type { Server } from "node:net";
import { messageOf, OptionError } from "../../core/errors.ts";
import { ownersOf } from "./port-owners.ts";

/** Binds a server. Rejects with one sentence about the cause and the advice. */
export function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(new OptionError(reasonOf(error, host, port), { cause: error }));
    server.once("error", onError);
    server.listen({ host: host.replace(/^\[|\]$/g, ""), port }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

function reasonOf(error: Error, host: string, port: number): string {
  const code = "code" in error ? error.code : undefined;
  switch (code) {
    case "EADDRINUSE":
      return (
        `Port ${port} on ${host} is in use by another program.${ownersOf(port)} Stop that program, or choose ` +
        "another port with --port N or `server.port` (0 takes a free one)."
      );
    case "EACCES":
      return (
        `No permission to listen on port ${port} of ${host}. Ports below 1024 often need extra rights; ` +
        "choose another with --port N or `server.port`."
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return (
        `Cannot listen on ${host}: this machine has no such address. ` +
        "Set `server.host` to 127.0.0.1, or to an address of this machine."
      );
    default:
      return `Cannot listen on ${host} port ${port}: ${messageOf(error)}. Check \`server.host\` and \`server.port\`.`;
  }
}
