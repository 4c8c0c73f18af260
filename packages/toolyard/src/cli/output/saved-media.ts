import { access, constants, mkdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isJsonObject, type JsonObject, listMember } from "../../core/json/json.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import { UsageError } from "../failure.ts";
import { firstChars } from "../../core/text/truncate.ts";

/** Part of a result that can be saved as a file. */
export interface Medium {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  /** Name given by the source, which is not trusted as a path. */
  readonly name?: string;
  /** True if the content is not valid base64, so it cannot be saved. */
  readonly isDamaged?: boolean;
}

/** Maximum number of files saved from one result. */
const MAX_FILES = 1000;
/** Maximum number of attempts to find an unused name. */
const MAX_NAMES = 10_000;
const LONGEST_STEM = 80;

/**
 * File extensions by MIME type. A map, because the server chooses the type, and an object would have inherited keys
 * such as `constructor`.
 */
const ENDINGS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "application/json": "json",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/wav": "wav",
    "audio/x-wav": "wav",
    "image/gif": "gif",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/svg+xml": "svg",
    "image/webp": "webp",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
  }),
);

/** Returns images, audio and resources of a result, in order. */
export function mediaOf(result: JsonObject): readonly Medium[] {
  const blocks = listMember(result, "content");
  return blocks.filter(isJsonObject).flatMap(mediumOf);
}

function mediumOf({ type, data, mimeType, resource }: JsonObject): Medium[] {
  if ((type === "image" || type === "audio") && typeof data === "string")
    return [{ ...decoded(data), mimeType: String(mimeType ?? ""), name: type }];
  if (type !== "resource" || !isJsonObject(resource)) return [];
  const { uri, text, blob } = resource;
  const facts = {
    mimeType: String(resource["mimeType"] ?? (typeof text === "string" ? "text/plain" : "")),
    name: nameOfUri(String(uri ?? "")),
  };
  if (typeof text === "string") return [{ bytes: Buffer.from(text, "utf8"), ...facts }];
  return typeof blob === "string" ? [{ ...decoded(blob), ...facts }] : [];
}

function decoded(text: string): Pick<Medium, "bytes" | "isDamaged"> {
  const isDamaged = !/^[\w+/-]*={0,2}$/.test(text.replaceAll(/\s/g, ""));
  return { bytes: Buffer.from(text, "base64"), ...(isDamaged && { isDamaged }) };
}

function nameOfUri(uri: string): string {
  const last =
    uri
      .replace(/[?#].*/s, "")
      .split("/")
      .findLast((step) => step !== "") ?? "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/**
 * Checks before work begins that a file can be written: no file of that name exists, and the folder is writable.
 * Rejects with a `UsageError`.
 */
export async function assertPlace(out: string): Promise<void> {
  const asked = resolve(out);
  const there = await nearestThere(asked);
  if (there.isFolder) {
    try {
      await access(there.path, constants.W_OK);
    } catch (error) {
      throw notWritable(out, messageOf(error), error);
    }
  } else throw notWritable(out, there.path === asked ? IS_THERE : `${there.path} is a file and no folder`);
}

/** Returns the path, or its nearest existing parent. */
async function nearestThere(path: string): Promise<{ readonly path: string; readonly isFolder: boolean }> {
  const found = await stat(path).catch(() => undefined);
  const above = dirname(path);
  if (found || above === path) return { path, isFolder: found?.isDirectory() === true };
  return nearestThere(above);
}

const IS_THERE = "there is a file of that name already";

function notWritable(out: string, why: string, cause?: unknown): UsageError {
  return new UsageError(`--out ${out} cannot be written: ${why}. Name another file or a folder.`, { cause });
}

/**
 * Writes each medium into a separate file, and resolves with their paths. `out` is a folder if it exists as one, ends
 * with a slash, or must hold several files; otherwise it is the one file. Never overwrites: a file in a folder gets a
 * number; an existing file is refused with a `UsageError`.
 */
export async function saveMedia(media: readonly Medium[], out: string): Promise<readonly string[]> {
  const kept = media.slice(0, MAX_FILES);
  const isFolder = /[/\\]$/.test(out) || kept.length > 1 || (await isFolderThere(out));
  try {
    if (isFolder) {
      await mkdir(out, { recursive: true });
      const paths: string[] = [];
      for (const [at, medium] of kept.entries()) paths.push(await writeBeside(out, fileName(medium, at), medium.bytes));
      return paths;
    }
    const [medium] = kept;
    if (!medium) return [];
    await mkdir(dirname(out), { recursive: true });
    await writeFile(out, medium.bytes, { flag: "wx" });
    return [out];
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw notWritable(out, codeOf(error) === "EEXIST" ? IS_THERE : messageOf(error), error);
  }
}

async function isFolderThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

async function writeBeside(folder: string, name: string, bytes: Uint8Array): Promise<string> {
  const ending = extname(name);
  const stem = basename(name, ending);
  for (let number = 1; number <= MAX_NAMES; number += 1) {
    const path = join(folder, number === 1 ? name : `${stem}-${number}${ending}`);
    try {
      await writeFile(path, bytes, { flag: "wx" });
      return path;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
  throw new UsageError(`--out ${folder} holds ${MAX_NAMES} files called ${stem} already. Name another folder.`);
}

// Names of Windows devices, which exist in every folder, with any extension.
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

/** Returns a file name that is valid on every system. */
export function fileName({ name = "", mimeType }: Pick<Medium, "name" | "mimeType">, at: number): string {
  const safe = name
    .normalize("NFC")
    .replaceAll(/[^\p{L}\p{M}\p{N}._ -]+/gu, "_")
    .replace(/^[. _-]+/, "")
    .replace(/(?<![. ])[. ]+$/, "");
  const own = extname(safe);
  const ending = own.length > 1 && own.length <= 12 ? own : endingOf(mimeType);
  const stem = firstChars(own === ending ? safe.slice(0, -own.length) : safe, LONGEST_STEM) || `content-${at + 1}`;
  return `${DEVICE.test(stem) ? `${stem}_` : stem}${ending}`;
}

function endingOf(mimeType: string): string {
  const plain = mimeType.replace(/;.*/s, "").trim().toLowerCase();
  return `.${ENDINGS.get(plain) ?? "bin"}`;
}
