import type { Socket } from "node:net";
import { codeOf } from "../../../core/errors.ts";
import { readUpgradeResponse, upgradeRequest } from "./upgrade.ts";

/** Maximum milliseconds to connect to another hub, and then to receive its response. */
export const CONNECT_TIMEOUT_MS = 2000;
const RESPONSE_TIMEOUT_MS = 3000;

/**
 * Result of opening a connection. `gone`: no program listens at the address. `unreached`: the connection could not be
 * established. `refused`: the program at the address does not open connections between hubs.
 */
export type OpenedSocket =
  | { readonly type: "open"; readonly socket: Socket; readonly reply: string; readonly rest: Buffer }
  | { readonly type: "gone" | "unreached" | "refused" };

/** Connects to the hub at `url` and requests a connection for frames. Never rejects. */
export function openSocket(url: string, hello: string): Promise<OpenedSocket> {
  return new Promise((resolve) => {
    const address = new URL(url);
    const socket = connect(address);
    let isConnected = false;
    let received: Buffer = Buffer.alloc(0);
    const settle = (result: OpenedSocket): void => {
      clearTimeout(timer);
      socket.removeAllListeners("data").removeAllListeners("end").removeAllListeners("close");
      if (result.type !== "open") socket.destroy();
      resolve(result);
    };
    let timer = setTimeout(() => settle({ type: "unreached" }), CONNECT_TIMEOUT_MS);
    socket.once(address.protocol === "https:" ? "secureConnect" : "connect", () => {
      isConnected = true;
      clearTimeout(timer);
      timer = setTimeout(() => settle({ type: "refused" }), RESPONSE_TIMEOUT_MS);
      socket.write(upgradeRequest(address, hello), "latin1");
    });
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const response = readUpgradeResponse(received);
      if (!response) return;
      socket.pause();
      const { reply, bytes } = response;
      settle(
        reply === undefined ? { type: "refused" } : { type: "open", socket, reply, rest: received.subarray(bytes) },
      );
    });
    socket.on("error", (error) => {
      if (!isConnected) settle({ type: codeOf(error) === "ECONNREFUSED" ? "gone" : "unreached" });
    });
    socket.once("end", () => settle({ type: "refused" }));
    socket.once("close", () => settle({ type: isConnected ? "refused" : "unreached" }));
  });
}

function connect({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol !== "https:") return process.getBuiltinModule("node:net").connect({ host, port: Number(port || 80) });
  const { connect: connectTls } = process.getBuiltinModule("node:tls");
  const isName = process.getBuiltinModule("node:net").isIP(host) === 0;
  return connectTls({
    host,
    port: Number(port || 443),
    ALPNProtocols: ["http/1.1"],
    ...(isName && { servername: host }),
  });
}
