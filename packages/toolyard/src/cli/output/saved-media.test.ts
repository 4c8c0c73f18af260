import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { assertPlace, fileName, mediaOf, saveMedia } from "./saved-media.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-media-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const image = (text: string) => ({ type: "image", mimeType: "image/png", data: Buffer.from(text).toString("base64") });
const resource = (uri: string, text: string) => ({ type: "resource", resource: { uri, mimeType: "text/csv", text } });

test("saves every image, audio and resource of a result in a separate file, but no texts", async () => {
  const media = mediaOf({
    content: [
      { type: "text", text: "two" },
      image("one"),
      { ...image("two"), type: "audio", mimeType: "audio/wav" },
      resource("report://q/sales.csv?x=1", "a,b"),
      { type: "resource", resource: { uri: "x:y", blob: Buffer.from("raw").toString("base64") } },
    ],
  });
  const paths = await saveMedia(media, join(folder, "out"));
  expect(await readdir(join(folder, "out"))).toEqual(["audio.wav", "image.png", "sales.csv", "x_y.bin"]);
  expect(await Promise.all(paths.map((path) => readFile(path, "utf8")))).toEqual(["one", "two", "a,b", "raw"]);
});

test("uses the given file name, and never overwrites an existing file", async () => {
  const one = mediaOf({ content: [image("new")] });
  expect(await saveMedia(one, join(folder, "kite.png"))).toEqual([join(folder, "kite.png")]);
  await expect(saveMedia(one, join(folder, "kite.png"))).rejects.toThrow("there is a file of that name already");
  await writeFile(join(folder, "image.png"), "old");
  expect(await saveMedia(one, folder)).toEqual([join(folder, "image-2.png")]);
  expect(await readFile(join(folder, "image.png"), "utf8")).toBe("old");
});

test("checks whether a path can be written to before there is content", async () => {
  await writeFile(join(folder, "kite.png"), "old");
  await expect(assertPlace(join(folder, "kite.png"))).rejects.toThrow("there is a file of that name already");
  await expect(assertPlace(join(folder, "kite.png", "below.png"))).rejects.toThrow("kite.png is a file");
  await expect(assertPlace(`${join(folder, "kite.png")}/`)).rejects.toThrow("there is a file of that name already");
  await assertPlace(folder);
  await assertPlace(join(folder, "new", "deep", "kite.png"));
});

test("marks media whose base64 is invalid, but not media whose base64 has line breaks", () => {
  const [good, wrapped, bad] = mediaOf({
    content: [image("one"), { ...image(""), data: "b25l\r\nb25l" }, { ...image(""), data: "not base64!" }],
  });
  expect([good?.isDamaged, wrapped?.isDamaged, bad?.isDamaged]).toEqual([undefined, undefined, true]);
});

test.each([
  ["..", "content-1.txt"],
  ["...passwd", "passwd.txt"],
  ["a\u0000b\\c", "a_b_c.txt"],
  ["CON", "CON_.txt"],
  ["aux.txt", "aux_.txt"],
  ["trailing. ", "trailing.txt"],
  ["", "content-1.txt"],
  ["報告.csv", "報告.csv"],
  ["-rf", "rf.txt"],
])("saves a resource called %j as the file %j", (name, file) => {
  expect(fileName({ name, mimeType: "text/plain" }, 0)).toBe(file);
});

test.each([
  ["constructor", "x.bin"],
  ["__proto__", "x.bin"],
  ["toString", "x.bin"],
  ["text/../../etc/passwd", "x.bin"],
  ["image/png\0", "x.bin"],
  ["image/png\u001b[2J", "x.bin"],
  ["\u202egnp/egami", "x.bin"],
  ["IMAGE/PNG; charset=中", "x.png"],
])("saves a resource of the type %j as the file %j", (mimeType, file) => {
  expect(fileName({ name: "x", mimeType }, 0)).toBe(file);
});
