/**
 * A worker thread of the sandbox child with one JavaScript interpreter. It follows the messages of its port until it is
 * ended.
 */
import { workerData } from "node:worker_threads";
import type { SandboxJob, SandboxLimits } from "../engine.ts";
import type { FromWorker, ToWorker, SandboxWorkerSettings } from "../worker-messages.ts";
import { GuestVm, type QuickJsModule } from "./guest-vm.ts";
import { JobFiles } from "./job-files.ts";
import { JobRun } from "./job-run.ts";
import { prepareSource } from "./source.ts";

interface JavaScriptSettings extends SandboxWorkerSettings {
  /** `file:` URL of the module `quickjs-wasi`. */
  readonly quickjs: string;
  /** Path of the bundled module `sucrase`. */
  readonly sucrase: string;
}

const WARM_UP_LIMITS: SandboxLimits = {
  wallMs: 1000,
  cpuMs: 1000,
  memoryBytes: 0,
  outputBytes: 0,
  resultBytes: 100,
  toolCalls: 0,
  concurrentToolCalls: 0,
  toolBytes: 0,
  fileBytes: 0,
  files: 0,
};

const { port, module, memoryBytes, quickjs, sucrase } = workerData as JavaScriptSettings;
const say = (message: FromWorker): void => port.postMessage(message);
const engine = (await import(quickjs)) as QuickJsModule;
const files = new JobFiles();
await warmUp();
let vm = await GuestVm.create(engine, module, memoryBytes);
let isUsed = false;
let current: JobRun | undefined;

/**
 * Runs code while no caller waits, so that the first run in this thread need not wait for loading and compiling. This
 * interpreter is discarded, so that no code finds traces of another run.
 */
async function warmUp(): Promise<void> {
  const job: SandboxJob = {
    language: "javascript",
    code: "0",
    inputs: {},
    files: [],
    profile: "restricted",
    limits: WARM_UP_LIMITS,
  };
  const throwaway = await GuestVm.create(engine, module, memoryBytes);
  await new JobRun(job, {
    vm: throwaway,
    files: new JobFiles(),
    say: () => undefined,
    source: (each) => prepareSource(each, sucrase),
  }).run();
  throwaway.dispose();
}

async function begin(job: SandboxJob): Promise<void> {
  const { memoryBytes: wanted } = job.limits;
  if (!isUsed && wanted < memoryBytes) {
    vm.dispose();
    vm = await GuestVm.create(engine, module, wanted);
  }
  isUsed = true;
  current = new JobRun(job, { vm, files, say, source: (each) => prepareSource(each, sucrase) });
  const done = await current.run();
  current = undefined;
  say({ type: "done", done });
  say({ type: "ready" });
}

port.on("message", (message: ToWorker) => {
  if (message.type === "job") void begin(message.job);
  else current?.reply(message);
});
say({ type: "ready" });
