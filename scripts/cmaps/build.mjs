// Packs the predefined CMaps of PDF into one file of the library: `node scripts/cmaps/build.mjs <folder> [<output>]`.
// The folder is `cmaps` of the npm package `pdfjs-dist`, in the version that `unpdf` contains. It is not a dependency,
// because the whole package is sixty times as large.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const OUTPUT = fileURLToPath(new URL("../../packages/library/src/documents/cmaps/cmaps.bin", import.meta.url));

const { positionals } = parseArgs({ allowPositionals: true });
const [folder, output = OUTPUT] = positionals;
if (folder === undefined) throw new Error("Name the folder `cmaps` of the package pdfjs-dist.");
const names = readdirSync(folder).filter((name) => name.endsWith(".bcmap"));
const files = names.toSorted().map((name) => ({ name, data: readFileSync(join(folder, name)) }));
// The first line has the names and sizes, in the order of the data.
const head = `${JSON.stringify(files.map(({ name, data }) => [name, data.length]))}\n`;
writeFileSync(output, Buffer.concat([Buffer.from(head), ...files.map(({ data }) => data)]));
console.log(`${files.length} CMaps`);
