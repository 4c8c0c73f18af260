import { readFile } from "node:fs/promises";

/** The CMaps in one file: a line with their names and sizes, then their data. */
const FILE = new URL("cmaps/cmaps.bin", import.meta.url);
const LINE_END = 10;

let loaded: Promise<ReadonlyMap<string, Buffer>> | undefined;

/** Options of pdf.js that supply the CMaps of fonts that are not embedded, which East Asian PDFs use. */
export const CMAP_OPTIONS = {
  cMapPacked: true,
  useWorkerFetch: false,
  /** Class that pdf.js constructs, and asks for each CMap that a file names. */
  BinaryDataFactory: class {
    async fetch({ kind, filename }: { readonly kind: string; readonly filename: string }): Promise<Uint8Array> {
      const data = kind === "cMapUrl" ? (await cmaps()).get(filename) : undefined;
      if (data) return new Uint8Array(data);
      throw new Error(`There is no ${JSON.stringify(filename)}.`);
    }
  },
} as const;

/** Returns the CMaps by file name. The file is read once. */
function cmaps(): Promise<ReadonlyMap<string, Buffer>> {
  loaded ??= readFile(FILE).then(unpacked);
  loaded.catch(() => (loaded = undefined));
  return loaded;
}

function unpacked(file: Buffer): ReadonlyMap<string, Buffer> {
  const start = file.indexOf(LINE_END) + 1;
  let at = start;
  const sizes = JSON.parse(file.toString("utf8", 0, start)) as readonly (readonly [name: string, size: number])[];
  return new Map(sizes.map(([name, size]) => [name, file.subarray(at, (at += size))]));
}
