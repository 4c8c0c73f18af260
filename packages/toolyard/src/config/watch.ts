import { basename, dirname } from "node:path";

/** Editors write a file in several steps; a reload waits for this long without a change. */
const QUIET_MS = 100;

/**
 * Reports that one of the files changed, appeared or disappeared. Watches their folders, since editors replace files.
 */
export async function watchFiles(files: readonly string[], onChange: () => void): Promise<() => Promise<void>> {
  const { watch } = await import("chokidar");
  const names = new Set(files);
  const folders = [...new Set(files.map((file) => dirname(file)))];
  const watcher = watch(folders, {
    depth: 0,
    ignoreInitial: true,
    ignored: (path) => !names.has(path) && !folders.includes(path) && basename(path) !== "",
  });
  let timer: NodeJS.Timeout | undefined;
  watcher.on("all", (_event, path) => {
    if (!names.has(path)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  });
  watcher.on("error", () => {
    // Without a watchable folder only SIGHUP reloads; the configuration that was read stays in use.
  });
  await new Promise<void>((done) => void watcher.once("ready", done));
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
