import { workerData } from "node:worker_threads";
import type { WorkerSettings } from "../worker-messages.ts";
import { runGuest } from "./run-guest.ts";

// The entry of the worker thread: it does not return to its event loop before the interpreter ends.
runGuest(workerData as WorkerSettings);
