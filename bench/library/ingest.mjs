// Reads 500 pages: with the library alone, and through a hub with the service, while its event loop is measured.
import { createWriteStream, writeFileSync } from "node:fs";
import { finished } from "node:stream/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import PdfDocument from "pdfkit";
import { createHub } from "../../packages/toolyard/dist/index.js";
import { openLibrary } from "../../packages/library/dist/index.js";
import { openSqliteStore } from "../../packages/library/dist/store/sqlite/sqlite.js";

const PAGES = 500;
const SECTIONS = 6_000;
/**
 * Milliseconds after a write until a file no longer counts as recently changed. A recently changed file would be read
 * again, because it may change within the same clock tick.
 */
const REST_MS = 2_100;
const WORDS = "the law of nature is general and holds of what was never seen by those who ask why it does so".split(
  " ",
);

export async function measureIngest({ folder, report }) {
  const file = join(folder, "long.pdf");
  await writeLongPdf(file);
  await setTimeout(REST_MS);
  const library = await openLibrary({ file: join(folder, "ingest.db") });
  try {
    const [began, used] = [performance.now(), process.cpuUsage()];
    const { document } = await library.add({ path: file });
    const { user, system } = process.cpuUsage(used);
    const seconds = (performance.now() - began) / 1000;
    const cpu = ((user + system) / 1e6).toFixed(1);
    report(
      `a PDF of ${PAGES} pages, ${document.chunks} chunks`,
      `${seconds.toFixed(1)} s (CPU of this process ${cpu} s)`,
      "8 s",
    );
    const since = performance.now();
    await library.add({ path: file });
    report("the same again, unchanged", `${(performance.now() - since).toFixed(1)} ms`, "5 ms");
    const rss = process.memoryUsage.rss();
    report("resident afterwards", `${(rss / 1e6).toFixed(0)} MB`, "300 MB");
  } finally {
    await library[Symbol.asyncDispose]();
  }
  await watchHub({ folder, file, report });
  await watchWriting({ folder, report });
}

/**
 * Writes, replaces and removes a document of many sections, and measures how long the event loop is blocked meanwhile.
 */
async function watchWriting({ folder, report }) {
  const store = await openSqliteStore(join(folder, "sections.db"));
  const passages = Array.from({ length: SECTIONS }, (_, ordinal) => sectionOf(ordinal));
  const document = {
    sourceId: "sections",
    uri: "file:///sections",
    contentHash: "0",
    pipeline: "",
    bytes: 0,
    mime: "text/plain",
    title: "Sections",
    work: "Sections",
    pages: 0,
    pageStarts: [],
    toc: [],
    origins: {},
    warnings: [],
  };
  // `replaced` removes as many passages as `written` added.
  for (const what of ["written", "replaced", "taken out"]) {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    // The measured loop only detects blocks between two ticks of its own clock.
    await setTimeout(50);
    const [since, used] = [performance.now(), performance.eventLoopUtilization()];
    if (what === "taken out") await store.deleteDocument("sections");
    else await store.replaceDocument(document, "text", { chunks: passages, summaries: [], embedder: "made" });
    const { active } = performance.eventLoopUtilization(used);
    const took = performance.now() - since;
    await setTimeout(50);
    delay.disable();
    report(
      `longest turn of the loop while ${SECTIONS} sections are ${what}`,
      `${(delay.max / 1e6).toFixed(0)} ms of ${took.toFixed(0)} (busy for ${active.toFixed(0)})`,
      "50 ms",
    );
  }
  await store[Symbol.asyncDispose]();
}

function sectionOf(ordinal) {
  const words = Array.from(
    { length: 60 },
    (_, at) => `${WORDS[(at * 7 + ordinal) % WORDS.length]}${(ordinal * at) % 97}`,
  );
  const vector = Float32Array.from({ length: 128 }, (_, at) => Math.sin(ordinal + at) / 8);
  const text = words.join(" ");
  return { ordinal, section: [`Section ${ordinal}`], from: 0, to: 1, text, terms: text, length: 60, level: 0, vector };
}

async function watchHub({ folder, file, report }) {
  const config = join(folder, "toolyard.toml");
  const roots = JSON.stringify([folder]);
  const store = JSON.stringify(`sqlite://${join(folder, "hub.db")}`);
  writeFileSync(config, `[services]\nlibrary = true\n\n[library]\nroots = ${roots}\nstore = ${store}\n`);
  const hub = await createHub({ config });
  try {
    await hub.call("list_documents", {});
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    await setTimeout(50);
    const result = await hub.call("parse_pdf", { pdf_path: file }, { timeout: 600_000 });
    await setTimeout(50);
    delay.disable();
    if (result.ok === false) throw new Error(JSON.stringify(result).slice(0, 500));
    report("longest turn of the hub's loop meanwhile", `${(delay.max / 1e6).toFixed(0)} ms`, "50 ms");
  } finally {
    await hub.close();
  }
}

async function writeLongPdf(path) {
  const document = new PdfDocument({ autoFirstPage: false, info: { Title: "A Long Book", Author: "N. N." } });
  const file = document.pipe(createWriteStream(path));
  for (let page = 0; page < PAGES; page += 1) {
    document.addPage({ size: "A5" });
    if (page % 20 === 0)
      document
        .fontSize(18)
        .text(`Chapter ${page / 20 + 1}`)
        .moveDown();
    for (let at = 0; at < 5; at += 1) {
      const words = Array.from({ length: 60 }, (_, index) => WORDS[(index * 7 + page * 3 + at) % WORDS.length]);
      document
        .fontSize(10)
        .text(`On page ${page} ${words.join(" ")}.`)
        .moveDown();
    }
  }
  document.end();
  await finished(file);
}
