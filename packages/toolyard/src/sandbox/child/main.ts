/**
 * The sandbox child: holds the workers in which untrusted code runs, forwards their messages, and ends them in time. It
 * is started without rights (no files but its own, no processes, an empty environment) and exchanges frames over
 * descriptor 3.
 */
import { Socket } from "node:net";
import type { ChildSettings } from "../child-messages.ts";
import { FrameReader } from "../frames.ts";
import { ChildRuns } from "./child-runs.ts";

const settings = JSON.parse(process.argv[2]!) as ChildSettings;
const hub = new Socket({ fd: 3, readable: true, writable: true });
const frames = new FrameReader(settings.maxFrameBytes);
const runs = new ChildRuns(settings, (frame) => void hub.write(frame));

// This process always exits together with the hub.
const leave = (): never => process.exit(0);
hub.on("end", leave);
hub.on("close", leave);
hub.on("error", leave);
hub.on("data", (chunk: Buffer) => {
  for (const frame of frames.push(chunk)) runs.take(frame);
});
