// A connection with frames between two hubs whose address begins with `https://`.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Authority } from "../../../../../../test/support/certificates.ts";
import { openSocket } from "./open-socket.ts";
import { FrameClient } from "./frame-client.ts";
import { FrameHost } from "./frame-host.ts";
import { Handshakes } from "./handshake.ts";
import { HeadReader } from "./request-heads.ts";
import { PrincipalReader } from "../../adapters/workers/principal-text.ts";

const SECRET = Buffer.from("secret-of-the-store");
const client = new Handshakes("hub-1", () => SECRET);

let server: Server;
let host: FrameHost;
let accepted: TLSSocket[];
let url: string;

beforeEach(async () => {
  accepted = [];
  host = new FrameHost({
    handshakes: new Handshakes("hub-2", () => SECRET),
    heads: new HeadReader(new PrincipalReader()),
    logger: { error: () => {} },
    serve: () => {},
  });
  server = createServer({ ...new Authority().issue(), allowHalfOpen: true }, (socket) => {
    accepted.push(socket);
    socket.on("error", () => {});
    socket.once("data", (bytes: Buffer) => {
      socket.pause();
      host.take(socket, bytes);
    });
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  vi.unstubAllEnvs();
  host.close();
  server.close();
  for (const socket of accepted) socket.destroy();
});

test("is encrypted", async () => {
  // The authority of the test cannot be added to those of this process.
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const { hello, finish } = client.start("hub-2");
  const opened = await openSocket(url, hello);
  if (opened.type !== "open") throw new Error(opened.type);
  const keys = finish(opened.reply)!;
  const connection = new FrameClient(opened.socket, keys, opened.rest);
  expect(connection.isUsable).toBe(true);
  expect(accepted.map(({ encrypted }) => encrypted)).toEqual([true]);
  connection.close();
  await once(accepted[0]!, "close");
});

test("is not opened to a hub whose certificate is unknown, and nothing is sent there", async () => {
  expect(await openSocket(url, client.start("hub-2").hello)).toEqual({ type: "unreached" });
  expect(accepted).toEqual([]);
});
