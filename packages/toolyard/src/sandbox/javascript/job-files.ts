import { tooLargeFiles } from "../bound-messages.ts";
import type { SandboxFile, SandboxLimits } from "../engine.ts";
import { toFilePath } from "../file-path.ts";
import { HostRefusal } from "./refusal.ts";
import { firstChars } from "../../core/text/truncate.ts";

/**
 * Files of a run, in memory. In a session, files are kept between runs. Each run returns only the files that it
 * changed.
 */
export class JobFiles {
  readonly #files = new Map<string, Uint8Array>();
  #limits: Pick<SandboxLimits, "files" | "fileBytes"> = { files: 0, fileBytes: 0 };
  #before = new Map<string, Uint8Array>();
  #bytes = 0;

  /** Starts a run: its input files are added, and replace files with the same path. */
  begin(files: readonly SandboxFile[], limits: SandboxLimits): void {
    this.#limits = limits;
    for (const { path, bytes } of files) this.#put(path, bytes);
    this.#before = new Map(this.#files);
  }

  read(path: string): Uint8Array {
    const bytes = this.#files.get(known(path));
    if (bytes) return bytes;
    const near = Array.from(this.#files.keys())
      .slice(0, 10)
      .map((name) => `"${name}"`);
    throw new HostRefusal(
      `There is no file "${shorten(path)}". ` +
        `${near.length === 0 ? "There are no files." : `There is: ${near.join(", ")}.`}`,
    );
  }

  write(path: string, bytes: Uint8Array): void {
    const name = known(path);
    const { files, fileBytes } = this.#limits;
    const total = this.#bytes - (this.#files.get(name)?.byteLength ?? 0) + bytes.byteLength;
    if (total > fileBytes) throw new HostRefusal(tooLargeFiles(fileBytes, total));
    if (!this.#files.has(name) && this.#files.size >= files)
      throw new HostRefusal(`There may be ${files} files (\`sandbox.files\`), and there are that many already.`);
    this.#put(name, bytes);
  }

  remove(path: string): void {
    const name = known(path);
    this.read(name);
    this.#bytes -= this.#files.get(name)!.byteLength;
    this.#files.delete(name);
  }

  list(): string[] {
    return Array.from(this.#files.keys()).toSorted();
  }

  /** Returns files that the run created or changed. */
  artifacts(): SandboxFile[] {
    const made = Array.from(this.#files).filter(([path, bytes]) => {
      const before = this.#before.get(path);
      return before === undefined || (before !== bytes && Buffer.compare(before, bytes) !== 0);
    });
    return made.map(([path, bytes]) => ({ path, bytes }));
  }

  #put(name: string, bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength - (this.#files.get(name)?.byteLength ?? 0);
    this.#files.set(name, bytes);
  }
}

function known(path: string): string {
  const name = toFilePath(path);
  if (name !== undefined) return name;
  throw new HostRefusal(
    `"${shorten(path)}" is not a valid path: a path is relative, with "/" between its steps, and ` +
      'without ".." as a step.',
  );
}

function shorten(path: string): string {
  return path.length > 100 ? `${firstChars(path, 100)}…` : path;
}
