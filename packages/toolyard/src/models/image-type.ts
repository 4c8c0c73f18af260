/** Image types by their first bytes; `?` matches any byte. */
const SIGNATURES: readonly (readonly [mimeType: string, extension: string, signature: string])[] = [
  ["image/png", ".png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", ".jpg", "\xff\xd8\xff"],
  ["image/gif", ".gif", "GIF8"],
  ["image/webp", ".webp", "RIFF????WEBP"],
  ["image/avif", ".avif", "????ftypavif"],
];

export interface ImageType {
  readonly mimeType: string;
  /** File extension, including the dot. */
  readonly extension: string;
}

/** Returns the image type of these bytes, without looking at a file name; undefined if they are not an image. */
export function imageType(data: Uint8Array): ImageType | undefined {
  const start = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 16)).toString("latin1");
  const found = SIGNATURES.find(
    ([, , signature]) =>
      start.length >= signature.length && Array.from(signature).every((char, at) => char === "?" || char === start[at]),
  );
  return found && { mimeType: found[0], extension: found[1] };
}
