/**
 * Runs inside Deno: receives jobs from the hub and runs them in sequence. Uses the same frames as the other
 * interpreters.
 */
import { readFiles, toFileHeads } from "../../child-messages.ts";
import type { SandboxJob } from "../../engine.ts";
import { encodeFrame, FrameReader } from "../../frames.ts";
import { JobFiles } from "../../javascript/job-files.ts";
import { JobRun } from "../../javascript/job-run.ts";
import { SourceError } from "../../javascript/source-error.ts";
import type { ToWorker } from "../../worker-messages.ts";
import type { SplitResult } from "../split-source.ts";
import { DenoMachine } from "./deno-machine.ts";

export interface Ends {
  /** Resolves with the next bytes from the hub; undefined after the hub has exited. */
  read(): Promise<Uint8Array | undefined>;
  write(bytes: Uint8Array): void;
}

type FromHub =
  | {
      readonly type: "job";
      readonly job: Omit<SandboxJob, "files">;
      readonly files: unknown;
      readonly source: SplitResult;
    }
  | Extract<ToWorker, { type: "reply" }>;

/** Maximum size of a frame. The hub limits what it sends; this limit only protects against faults on this side. */
const MAX_FRAME_BYTES = 2 ** 31;
const PROMPT_PIECES = 200;

export async function start({ read, write }: Ends): Promise<void> {
  const frames = new FrameReader(MAX_FRAME_BYTES);
  const machine = new DenoMachine();
  const files = new JobFiles();
  let current: JobRun | undefined;

  async function begin(job: SandboxJob, source: SplitResult): Promise<void> {
    current = new JobRun(job, {
      vm: machine,
      files,
      say: (message) => write(encodeFrame(message)),
      source: () => sourceOf(source),
      promptPieces: PROMPT_PIECES,
    });
    const { artifacts, ...done } = await current.run();
    current = undefined;
    write(
      encodeFrame(
        { type: "done", done, files: toFileHeads(artifacts) },
        artifacts.map(({ bytes }) => bytes),
      ),
    );
    write(encodeFrame({ type: "ready" }));
  }

  write(encodeFrame({ type: "ready" }));
  for (let chunk = await read(); chunk !== undefined; chunk = await read()) {
    for (const { head, body } of frames.push(Buffer.from(chunk))) {
      const message = head as FromHub;
      // Each job runs in its own turn of the event loop, because only at the end of that turn is it certain that the
      // job has no further effects.
      setImmediate(() => {
        if (message.type === "reply") current?.reply(message);
        else void begin({ ...message.job, files: readFiles(message.files, body) ?? [] }, message.source);
      });
    }
  }
}

function sourceOf(prepared: SplitResult): Exclude<SplitResult, { readonly problem: string }> {
  if ("problem" in prepared) throw new SourceError(prepared.problem, prepared.line);
  return prepared;
}
