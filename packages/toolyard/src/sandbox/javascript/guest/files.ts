import type { GuestHost } from "./host.ts";
import type { GuestValues } from "./inspect.ts";

/** Runs inside the sandbox. Returns `files`: the files of the job and of the run, in memory. */
export function guestFiles(host: GuestHost, { toJson, parseJson }: GuestValues): object {
  const { parse } = JSON;
  const { isView } = ArrayBuffer;

  function bytesOf(data: unknown): string | Uint8Array {
    if (typeof data === "string" || data instanceof Uint8Array) return data;
    if (data instanceof ArrayBuffer) return new Uint8Array(data);
    if (isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    // An object is stored as JSON, because that is most likely the intention.
    const json = toJson(data, 2);
    if (json === undefined)
      throw new TypeError(`Text, bytes or a value that can be JSON is needed to write a file; got ${typeof data}.`);
    return json;
  }

  const list = (): string[] => parse(host("file.list") as string) as string[];
  const text = (path: unknown): string => host("file.text", String(path)) as string;
  const json = (path: unknown): unknown => parseJson(host("file.json", String(path)) as string);
  const bytes = (path: unknown): Uint8Array => host("file.bytes", String(path)) as Uint8Array;
  const put = (path: unknown, data: unknown): void => void host("file.put", String(path), bytesOf(data));
  const has = (path: unknown): boolean => {
    const wanted = String(path)
      .split("/")
      .filter((step) => step !== "" && step !== ".")
      .join("/");
    return list().includes(wanted);
  };
  const remove = (path: unknown): void => void host("file.remove", String(path));
  return Object.freeze({
    read: (path: unknown, encoding?: unknown) =>
      encoding === null || encoding === "bytes" || encoding === "binary" ? bytes(path) : text(path),
    readText: text,
    readBytes: bytes,
    readJson: json,
    readJSON: json,
    write: put,
    writeText: (path: unknown, data: unknown) => put(path, String(data)),
    writeBytes: put,
    writeJson: (path: unknown, data: unknown) => put(path, toJson(data, 2) ?? "null"),
    writeJSON: (path: unknown, data: unknown) => put(path, toJson(data, 2) ?? "null"),
    append: (path: unknown, data: unknown) => put(path, (has(path) ? text(path) : "") + String(data)),
    list,
    has,
    exists: has,
    remove,
    delete: remove,
  });
}
