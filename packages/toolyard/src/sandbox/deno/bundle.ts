import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { distFolder } from "../node-flags.ts";

/** The modules that run inside Deno. Each follows the modules that it imports. */
export interface Bundle {
  readonly modules: readonly { readonly name: string; readonly text: string }[];
}

const IMPORT = /^((?:import|export)\b[^"'\n\r\u2028\u2029]*\bfrom\s*)"(\.[^"]+)"/gmu;

/** Reads the built files. Deno receives their texts, so that it reads no file and learns no path of this machine. */
export function readBundle(): Bundle {
  const root = join(distFolder(), "sandbox", "deno", "inside");
  const modules = new Map<string, string>();
  const visit = (file: string): string => {
    const name = nameOf(file);
    if (modules.has(name)) return name;
    const text = readFileSync(file, "utf8").replace(
      IMPORT,
      (_whole, start: string, path: string) => `${start}"${PLACEHOLDER}${visit(join(dirname(file), path))}"`,
    );
    modules.set(name, text.replace(/^\/\/# sourceMappingURL=.*$/mu, ""));
    return name;
  };
  visit(join(root, "boot.js"));
  return { modules: Array.from(modules, ([name, text]) => ({ name, text })) };
}

/** Prefix of a module's name until the module has a URL. */
export const PLACEHOLDER = "toolyard:";

function nameOf(file: string): string {
  return file.slice(distFolder().length + 1).replaceAll("\\", "/");
}

/** The program with which Deno is started: it creates the modules of the first frame and runs them. */
export const BOOTSTRAP = `
import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
globalThis.Buffer = Buffer;
globalThis.setImmediate = setImmediate;
const reader = Deno.stdin.readable.getReader();
const read = async () => { const { value, done } = await reader.read(); return done ? undefined : value; };
const write = (bytes) => { for (let at = 0; at < bytes.length; ) at += Deno.stdout.writeSync(bytes.subarray(at)); };
let held = Buffer.alloc(0);
const need = async (size) => { while (held.length < size) { const chunk = await read(); if (!chunk) Deno.exit(0);
  held = Buffer.concat([held, chunk]); } };
await need(8);
const total = 8 + held.readUInt32BE(0) + held.readUInt32BE(4);
await need(total);
const { modules } = JSON.parse(held.subarray(8, 8 + held.readUInt32BE(0)).toString());
let rest = held.subarray(total);
const urls = new Map();
for (const { name, text } of modules) {
  const linked = text.replace(/"${PLACEHOLDER}([^"]+)"/g, (_, other) => JSON.stringify(urls.get(other)));
  urls.set(name, URL.createObjectURL(new Blob([linked], { type: "text/javascript" })));
}
const { start } = await import(urls.get(modules.at(-1).name));
await start({ read: async () => { if (rest.length === 0) return read(); const first = rest; rest = Buffer.alloc(0);
  return first; }, write });
Deno.exit(0);
`;
