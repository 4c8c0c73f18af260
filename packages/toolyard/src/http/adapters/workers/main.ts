// Entry point of a worker process. It waits for its settings, then for connections. It exits on a command of the
// primary, or when the primary has exited.
import { Socket } from "node:net";
import { messageOf } from "../../../core/errors.ts";
import { Channel } from "./channel.ts";
import { FRAME, type WorkerFrame } from "./frames.ts";
import type { LogHead, WorkerSettings } from "./messages.ts";
import type { KeyPair } from "../../tls/key-pair.ts";
import { Worker } from "./worker.ts";

/** File descriptor of the pipe to the primary. Connections arrive over Node's own channel. */
const PIPE = 3;

const pipe = new Socket({ fd: PIPE, readable: true, writable: true });
const channel = new Channel(pipe, receive);
let worker: Worker | undefined;

function receive(frame: WorkerFrame): void {
  if (frame.type === FRAME.settings) return void begin(JSON.parse(frame.head) as WorkerSettings);
  if (frame.type === FRAME.certificate) return void worker?.certify(JSON.parse(frame.head) as KeyPair);
  if (frame.type === FRAME.close) return void end();
  worker?.receive(frame);
}

async function begin(settings: WorkerSettings): Promise<void> {
  worker = new Worker(channel, settings);
  if (settings.pair) await worker.certify(settings.pair);
  process.on("message", (_message, socket) => worker?.adopt(socket as Socket | undefined));
  channel.sendBare(FRAME.ready);
}

async function end(): Promise<void> {
  await worker?.close();
  channel.flush(() => process.exit(0));
}

// A worker exits when its primary has exited.
pipe.once("close", () => process.exit(0));
process.once("disconnect", () => process.exit(0));
// The primary handles signals for all processes.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.on("uncaughtException", (error) => {
  const stack = error instanceof Error && error.stack !== undefined ? { stack: error.stack } : {};
  const line: LogHead = {
    level: "error",
    message: "A worker of the HTTP endpoint ends because of an internal error.",
    facts: { error: messageOf(error), ...stack },
  };
  channel.sendHead(FRAME.log, 0, JSON.stringify(line));
  channel.flush(() => process.exit(1));
});
