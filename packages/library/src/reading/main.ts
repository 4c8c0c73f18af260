// The process that reads documents. A malicious or damaged document harms this process only.
import { setPriority } from "node:os";
import { Worker } from "node:worker_threads";
import type { PageReader } from "../documents/block.ts";
import { DocumentError } from "../documents/document-error.ts";
import { readMarkdown } from "../documents/read-markdown.ts";
import { makeDocument } from "./make-document.ts";
import type { ReadFailure, FromReader, MadeDocument, OcrWanted, ReadRequest, ToReader } from "./messages.ts";

/** Limit of characters and passages of one message, so that the receiver is not blocked for long. */
const MAX_PIECE = 262_144;
const MAX_PASSAGES = 100;
/** Minimum time between two progress messages. */
const STEP_MS = 50;

// The process runs with low priority.
try {
  setPriority(10);
} catch {
  // Without the permission it runs at its usual priority.
}
const step = new Int32Array(new SharedArrayBuffer(4));
watch(Number(process.env["TOOLYARD_READER_MAX_BYTES"]), Number(process.env["TOOLYARD_READER_STEP_MS"]));

let answered: ((message: Extract<ToReader, { type: "ocr" | "no ocr" }>) => void) | undefined;
process.on("disconnect", () => process.exit());
process.on("message", (message: ToReader) => {
  Atomics.add(step, 0, 1);
  if (message.type === "read") void work(message.request);
  else answered?.(message);
});

async function work(request: ReadRequest): Promise<void> {
  let last = 0;
  const onStep = (done: number, total: number): void => {
    Atomics.add(step, 0, 1);
    const now = Date.now();
    if (now - last < STEP_MS && done < total) return;
    last = now;
    void send({ type: "at", done, total });
  };
  try {
    const pageReader = (file: Pick<OcrWanted, "mime" | "contentHash">): PageReader | undefined =>
      request.ocr.by === "mistral" ? asked(file) : undefined;
    await sendWhole(await makeDocument(request, { signal: new AbortController().signal, onStep, pageReader }));
  } catch (error) {
    await send({ type: "failed", failure: failureOf(error) });
  }
}

function failureOf(error: unknown): ReadFailure {
  if (error instanceof DocumentError) {
    const { code, message, reason } = error;
    return { code, message, ...(reason !== undefined && { reason }) };
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "EACCES" || code === "EISDIR")
    return { code: "DOCUMENT_NOT_FOUND", message: `It cannot be opened (${code}).` };
  return { message: `${(error as Error).name}: ${message}` };
}

async function sendWhole({ text, chunks, summaries, ...head }: MadeDocument): Promise<void> {
  for (let at = 0; at < text.length; at += MAX_PIECE)
    await send({ type: "text", piece: text.slice(at, at + MAX_PIECE) });
  for (let at = 0; at < chunks.length; at += MAX_PASSAGES)
    await send({ type: "chunks", pieces: chunks.slice(at, at + MAX_PASSAGES).map(({ text: _own, ...rest }) => rest) });
  for (let at = 0; at < summaries.length; at += MAX_PASSAGES)
    await send({ type: "summaries", pieces: summaries.slice(at, at + MAX_PASSAGES) });
  await send({ type: "made", head });
}

/** Resolves after the message was sent, so that few messages are buffered. */
function send(message: FromReader): Promise<void> {
  return new Promise((done) => process.send!(message, undefined, {}, () => done()));
}

/** Returns a page reader that sends pages to the parent process, which holds the keys of the OCR service. */
function asked(file: Pick<OcrWanted, "mime" | "contentHash">): PageReader {
  return {
    async read(pages) {
      const answer = new Promise<Extract<ToReader, { type: "ocr" | "no ocr" }>>((done) => (answered = done));
      await send({ type: "ocr", wanted: { ...file, pages } });
      const message = await answer;
      if (message.type === "no ocr") {
        const { code = "OCR_UNAVAILABLE", message: words, reason } = message.failure;
        throw new DocumentError(code, words, reason);
      }
      return Promise.all(
        message.pages.map(async (markdown, at) => {
          const bytes = Buffer.from(markdown);
          const { blocks } = await readMarkdown(bytes, { signal: new AbortController().signal, maxPages: 1 });
          return blocks.map((block) => ({ ...block, page: pages[at]! }));
        }),
      );
    },
  };
}

/**
 * Ends the process if its parent has exited, if one step exceeds its CPU time, or if the process exceeds its memory:
 * images and fonts are outside the engine's own limit. A thread does these checks, because a document may block the
 * main thread. CPU time is measured instead of elapsed time, so that no document is refused because the machine is
 * busy.
 */
function watch(maxBytes: number, stepMs: number): void {
  const code = `const { step } = require("node:worker_threads").workerData;
    const { ppid } = process;
    let at = -1;
    let since;
    setInterval(() => {
      if (process.ppid !== ppid) process.kill(process.pid, "SIGKILL");
      if (process.memoryUsage.rss() > ${maxBytes}) process.kill(process.pid, "SIGABRT");
      const now = Atomics.load(step, 0);
      if (now !== at) [at, since] = [now, process.cpuUsage()];
      const { user, system } = process.cpuUsage(since);
      if ((user + system) / 1000 > ${stepMs})
        process.kill(process.pid, process.platform === "win32" ? "SIGTERM" : "SIGXCPU");
    }, 100);`;
  const limits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 };
  new Worker(code, { eval: true, env: {}, workerData: { step }, resourceLimits: limits }).unref();
}
