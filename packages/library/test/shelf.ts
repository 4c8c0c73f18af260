import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openLibrary, type Library } from "../src/library.ts";

/**
 * A library in a folder, shared by all tests of a file and emptied before each of them. Sharing it saves the start of
 * the reader process, which takes a second.
 */
export class Shelf implements AsyncDisposable {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-library-")));
  library!: Library;

  static async open(): Promise<Shelf> {
    const shelf = new Shelf();
    shelf.library = await openLibrary({ file: shelf.path("library.db") });
    return shelf;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file with this content; returns its path. */
  write(name: string, content: string | Uint8Array): string {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
    return this.path(name);
  }

  async empty(): Promise<void> {
    const { documents } = await this.library.documents({}, { limit: 1_000, offset: 0 });
    for (const { sourceId } of documents) await this.library.remove(sourceId);
    for (const name of readdirSync(this.folder))
      if (!name.startsWith("library.db")) rmSync(this.path(name), { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.library[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
