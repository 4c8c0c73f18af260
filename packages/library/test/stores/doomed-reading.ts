// A process that reads files into a library and is killed during the reading: `doomed-reading.ts ADDRESS FOLDER` opens
// the library, starts its reader, and waits for the message STAGE FILE FILE. It ends itself with SIGKILL at the stage,
// and prints `written` if the stage was never reached.
import { openLibrary } from "../../src/library.ts";
import type { JobReport } from "../../src/ingest/jobs.ts";
import { told } from "./doomed-process.ts";
import { embedderOf, getReaderReady, READER } from "./reading-kills.ts";

const [address = "", folder = ""] = process.argv.slice(2);

let embeddings = 0;
const embedder = embedderOf(() => {
  embeddings += 1;
  // Passages are embedded first, then summaries.
  reach(embeddings === 1 ? "embedding" : "embedding summaries");
});
const library = await openLibrary({ store: address, folder, embedder, reader: READER });
await getReaderReady(library, folder);
const [stage = "", ...paths] = await told();
const { job_id: id } = await library.jobs.begin({ sources: paths.map((path) => ({ path })), onProgress });
reach("taken on");
await library.jobs.ended(id);
process.stdout.write("written");
await library[Symbol.asyncDispose]();

function onProgress({ at, done }: JobReport): void {
  if (at) reach(at.page < at.pages ? "reading" : "last page");
  else if (done > 0) reach("between documents");
}

function reach(place: string): void {
  if (place === stage) process.kill(process.pid, "SIGKILL");
}
