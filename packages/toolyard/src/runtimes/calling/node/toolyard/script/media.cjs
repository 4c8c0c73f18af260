// Converts images, sounds and files to results.
"use strict";
const { readFileSync } = require("node:fs");
const { basename, extname } = require("node:path");
const { fileURLToPath } = require("node:url");

/** First bytes that identify a file format. */
const SIGNS = [
  [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "image/png"],
  [[0xff, 0xd8, 0xff], "image/jpeg"],
  [Buffer.from("GIF8"), "image/gif"],
  [Buffer.from("%PDF-"), "application/pdf"],
  [Buffer.from("ID3"), "audio/mpeg"],
  [Buffer.from("OggS"), "audio/ogg"],
  [Buffer.from("fLaC"), "audio/flac"],
];
const BY_NAME = {
  ".csv": "text/csv",
  ".html": "text/html",
  ".json": "application/json",
  ".md": "text/markdown",
  ".mp3": "audio/mpeg",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".wav": "audio/wav",
  ".zip": "application/zip",
};
const UNKNOWN = "application/octet-stream";

/** Returns an MCP result with one block: `kind` is `image`, `audio` or `file`. */
function mediaResult(kind, given, { mimeType, name } = {}) {
  const { data, path } = bytesOf(given);
  const type = mimeType ?? given?.mimeType ?? typeOf(data, name ?? path);
  if (kind === "file") return { content: [{ type: "resource", resource: resourceOf(data, type, name ?? path) }] };
  if (!type.startsWith(`${kind}/`)) {
    const helper = kind === "image" ? "returnImage" : "returnAudio";
    throw new TypeError(`\`${helper}\` was given ${type}. Name its \`mimeType\`, or give it to \`returnFile\`.`);
  }
  return { content: [{ type: kind, data: data.toString("base64"), mimeType: type }] };
}

/** Returns the bytes of an image, a sound or a file, and its path if the bytes were read from a file. */
function bytesOf(given) {
  if (given instanceof Uint8Array) return { data: Buffer.from(given.buffer, given.byteOffset, given.byteLength) };
  if (given instanceof ArrayBuffer) return { data: Buffer.from(given) };
  if (given?.data instanceof Uint8Array) return { data: Buffer.from(given.data) };
  if (typeof given === "string" || given instanceof URL) {
    const path = given instanceof URL ? fileURLToPath(given) : given;
    return { data: readFileSync(path), path };
  }
  throw new TypeError(`Bytes or the path of a file are needed, got ${given === null ? "null" : typeof given}.`);
}

function typeOf(data, name = "") {
  const found = SIGNS.find(([sign]) => sign.every((byte, at) => data[at] === byte));
  if (found) return found[1];
  const riff = data.toString("latin1", 0, 4) === "RIFF" ? data.toString("latin1", 8, 12) : "";
  return { WEBP: "image/webp", WAVE: "audio/wav" }[riff] ?? BY_NAME[extname(name).toLowerCase()] ?? UNKNOWN;
}

function resourceOf(data, mimeType, name) {
  const about = { uri: `result:///${encodeURIComponent(basename(name ?? "file"))}`, mimeType };
  const isText = mimeType.startsWith("text/") || mimeType === "application/json";
  return isText ? { ...about, text: data.toString("utf8") } : { ...about, blob: data.toString("base64") };
}

module.exports = { mediaResult };
