import { workerData } from "node:worker_threads";
import { runGuest, type PythonSettings } from "./run-guest.ts";

// The entry of the worker thread: it does not return to its event loop before the interpreter ends.
runGuest(workerData as PythonSettings);
