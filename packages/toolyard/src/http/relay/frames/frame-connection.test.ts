// A connection between two sockets of this machine, of which the other side reads when the test lets it.
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FRAME } from "../../adapters/workers/frames.ts";
import { sentBytes } from "../../adapters/node/reader-watch.ts";
import { FrameConnection } from "./frame-connection.ts";

const CHECK_MS = 2000;
const PIECE = Buffer.alloc(400_000);
/** Number of pieces that wait: more than the buffers of both systems hold. */
const PIECES = 150;

let server: Server;
let socket: Socket;
let other: Socket;
let connection: FrameConnection;

beforeEach(async () => {
  server = createServer({ pauseOnConnect: true }, (accepted) => (other = accepted)).listen(0, "127.0.0.1");
  await once(server, "listening");
  socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await Promise.all([once(socket, "connect"), once(server, "connection")]);
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const [ownKey, otherKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  connection = new FrameConnection({ socket, ownKey, otherKey, onFrame: () => {}, onClosed: () => {} });
  for (let at = 0; at < PIECES; at += 1) {
    connection.send({ type: FRAME.piece, exchange: at, head: "", body: PIECE });
    connection.flush();
  }
  connection.waitForRoom();
});

afterEach(() => {
  vi.useRealTimers();
  socket.destroy();
  other.destroy();
  server.close();
});

/** Lets the other side read until the system has accepted further bytes of this side. */
async function readSome(): Promise<void> {
  const before = sentBytes(socket);
  while (sentBytes(socket) === before) {
    other.read();
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

test("stays open while the other side receives data, although this side does not read", async () => {
  for (let check = 0; check < 12; check += 1) {
    await readSome();
    vi.advanceTimersByTime(CHECK_MS);
    expect([check, socket.isPaused(), socket.destroyed]).toEqual([check, true, false]);
  }
});

test("is closed after five checks if the other side receives nothing", () => {
  // The first check has no earlier value to compare.
  vi.advanceTimersByTime(5 * CHECK_MS);
  expect(socket.destroyed).toBe(false);
  vi.advanceTimersByTime(CHECK_MS);
  expect(socket.destroyed).toBe(true);
});
