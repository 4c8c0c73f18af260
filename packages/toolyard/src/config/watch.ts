import { basename, dirname } from "node:path";

/** Time without a change before a reload, in milliseconds, because editors write a file in several steps. */
const QUIET_MS = 100;

/**
 * Calls `onChange` when one of the files was changed, created or deleted. Watches their folders, because editors
 * replace files.
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
    // If the folders cannot be watched, the hub keeps the current configuration, and only SIGHUP reloads it.
  });
  await new Promise<void>((done) => void watcher.once("ready", done));
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
