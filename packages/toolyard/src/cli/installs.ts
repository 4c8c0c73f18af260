import type { BrokenInstall, Installation } from "../core/sources/provider.ts";
import { messageOf } from "../core/errors.ts";
import { foldersText } from "../core/text/folders-text.ts";
import { plainLine } from "./output/table.ts";
import type { Hub } from "../hub/hub.ts";
import type { SharedOptions } from "./rows/command-row.ts";
import { print, type Io } from "./output/io.ts";
import type { LiveLine } from "./live/line-text.ts";
import { isLive, showLive } from "./live/live.ts";
import { sourceLine } from "./live/sources.ts";

const LOOK_EVERY_MS = 5000;
/**
 * Interval after which a repeated line is printed again. A program may print the same line for minutes; the repetition
 * shows that it still runs.
 */
const REPEAT_AFTER_MS = 30_000;

/** Returns a line such as `memory: installing, 14 s: Downloading cryptography (4.5MiB)`. */
export function installingText(id: string, { since, waitsFor }: Installation): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1000));
  return `${id}: installing, ${seconds} s: ${waitsFor}`;
}

/**
 * Prints the state of downloads from time to time while a command waits. On a terminal the live line shows it instead.
 * Returns a function that stops the output.
 */
export function tellInstalls(hub: Hub, { json }: SharedOptions, io: Io): () => void {
  if (json || isLive(io)) return () => {};
  const said = new Map<string, { readonly waitsFor: string; readonly at: number }>();
  const isNews = (id: string, { waitsFor }: Installation): boolean => {
    const last = said.get(id);
    const now = performance.now();
    if (last?.waitsFor === waitsFor && now - last.at < REPEAT_AFTER_MS) return false;
    said.set(id, { waitsFor, at: now });
    return true;
  };
  const timer = setInterval(() => {
    const lines = hub.port.sources().flatMap(({ source: { id }, status: { installing } }) => {
      return installing && isNews(id, installing) ? [installingText(id, installing)] : [];
    });
    if (lines.length > 0) void print(io.stderr, lines.join("\n"));
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Repairs an unusable download once, after asking the user; `--yes` answers the question. Resolves with whether
 * something was repaired.
 */
export async function mendBroken(hub: Hub, options: SharedOptions, io: Io): Promise<boolean> {
  let mended = false;
  for (const { source, status } of hub.port.sources()) {
    const { broken } = status;
    if (!broken || broken.mended || !(await mayMend({ ...broken, id: source.id }, options, io))) continue;
    mended = true;
    const live = showLive(io, { read: () => mendingLines(hub, source.id), json: options.json === true });
    const quiet = tellInstalls(hub, options, io);
    // A failure is ignored here, because the status of the source contains the reason.
    await hub.sources.mend(source.id, io.interrupted).catch((error: unknown) => hub.logger.debug(messageOf(error)));
    quiet();
    live.end();
  }
  return mended;
}

/** Returns the live lines of one source during its new download and start. Its previous failure is already known. */
function mendingLines(hub: Hub, id: string): readonly LiveLine[] {
  const report = hub.port.sources().find(({ source }) => source.id === id);
  return report ? sourceLine(report).filter(({ outcome }) => outcome !== "failed") : [];
}

type NamedInstall = BrokenInstall & { readonly id: string };

async function mayMend({ id, folders }: NamedInstall, options: SharedOptions, io: Io): Promise<boolean> {
  if (options.yes) return true;
  if (options.json || !io.ask) return false;
  await print(io.stderr, `${plainLine(id)}: what was downloaded is broken: ${plainLine(foldersText(folders))}`);
  return io.ask("Remove that and download it anew? [y/N] ", false);
}
