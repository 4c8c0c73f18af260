import { workerData } from "node:worker_threads";
import { runGuest, type PythonSettings } from "./run-guest.ts";

// Entry point of the worker thread. It does not return to its event loop before the interpreter exits.
runGuest(workerData as PythonSettings);
