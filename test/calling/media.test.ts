// Results of scripts that are not text, and modules that scripts import, with a real hub and real children.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SILENT_LOGGER } from "../../packages/toolyard/src/core/ports/ports.ts";
import { createHub, type LibraryHub } from "../../packages/toolyard/src/index.ts";
import { ToolFolder } from "../support/tool-folder.ts";

let folder: ToolFolder;
let hub: LibraryHub | undefined;

beforeEach(() => {
  folder = new ToolFolder();
});
afterEach(async () => {
  await hub?.close();
  hub = undefined;
  folder[Symbol.dispose]();
});

async function call(name: string): Promise<unknown> {
  hub ??= await createHub({
    settings: { scripts: { tools_path: folder.path } },
    variables: { PATH: process.env["PATH"] },
    logger: SILENT_LOGGER,
  });
  const outcome = await hub.call(name, {});
  return outcome.ok ? outcome.result["content"] : outcome.message;
}

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const JPEG = Buffer.from("ffd8ffe000104a46494600", "hex");
const WAV = Buffer.concat([Buffer.from("RIFF"), Buffer.alloc(4), Buffer.from("WAVEfmt ")]);
const image = (data: Buffer, mimeType: string) => [{ type: "image", data: data.toString("base64"), mimeType }];
const WAV_BLOCK = [{ type: "audio", data: WAV.toString("base64"), mimeType: "audio/wav" }];
const CSV_BLOCK = [
  { type: "resource", resource: { uri: "result:///ducks%20.csv", mimeType: "text/csv", text: "a,b\n" } },
];
const ZIP_BLOCK = [
  {
    type: "resource",
    resource: { uri: "result:///all.zip", mimeType: "application/zip", blob: Buffer.from("PK").toString("base64") },
  },
];

const PYTHON = `from toolyard import return_audio, return_file, return_image
print("on the way")
`;
const NODE = `import { returnAudio, returnFile, returnImage } from "toolyard/script";
console.log("on the way");
`;

describe("media of scripts", () => {
  test.each([
    ["img", "bytes of an image", `return_image(bytes.fromhex("${PNG.toString("hex")}"))`, image(PNG, "image/png")],
    ["img", "an image's file", 'return_image("photo.jpg")', image(JPEG, "image/jpeg")],
    [
      "img",
      "what can save itself",
      "class Figure:\n  def savefig(self, to, format): to.write(b'\\x89PNG\\r\\n\\x1a\\n')\n" +
        "return_image(Figure())",
      image(PNG.subarray(0, 8), "image/png"),
    ],
    ["snd", "a sound", 'return_audio("quack")', WAV_BLOCK],
    ["csv", "a text file", 'return_file("ducks .csv")', CSV_BLOCK],
    ["zip", "bytes of a file", 'return_file(b"PK", name="all.zip")', ZIP_BLOCK],
  ])("Python (%s): %s", async (name, _, body, expected) => {
    folder.script(name, "tool.py", PYTHON + body);
    writeMedia(name);
    expect(await call(name)).toEqual(expected);
  });

  test.each([
    ["img", "bytes of an image", `returnImage(Buffer.from("${PNG.toString("hex")}", "hex"))`, image(PNG, "image/png")],
    ["img", "an image's file", 'returnImage("photo.jpg")', image(JPEG, "image/jpeg")],
    ["snd", "a sound", 'returnAudio(new URL("quack", import.meta.url))', WAV_BLOCK],
    ["csv", "a text file", 'returnFile("ducks .csv")', CSV_BLOCK],
    ["zip", "bytes of a file", 'returnFile(Buffer.from("PK"), { name: "all.zip" })', ZIP_BLOCK],
  ])("Node (%s): %s", async (name, _, body, expected) => {
    folder.script(name, "tool.mjs", NODE + body);
    writeMedia(name);
    expect(await call(name)).toEqual(expected);
  });

  test("the helper refuses a value that is not an image, and names the right helper", async () => {
    folder.script("py", "tool.py", `${PYTHON}return_image(b"PK")`);
    folder.script("js", "tool.mjs", `${NODE}returnImage(Buffer.from("PK"))`);
    expect(await call("py")).toContain("Name its `mime_type`, or give it to `return_file`.");
    expect(await call("js")).toContain("Name its `mimeType`, or give it to `returnFile`.");
  });

  test.each([
    ["a PNG", PNG, "image/png"],
    ["a JPEG", JPEG, "image/jpeg"],
  ])("standard output that is only %s is an image", async (_, bytes, mimeType) => {
    folder.script("plain", "tool.sh", "cat picture");
    folder.write("plain/picture", bytes);
    expect(await call("plain")).toEqual(image(bytes, mimeType));
  });

  test("refuses other bytes, and names the helpers that accept them", async () => {
    folder.script("plain", "tool.sh", "cat picture");
    folder.write("plain/picture", Buffer.from([0x50, 0x4b, 0, 0xff, 0xfe, 0]));
    expect(await call("plain")).toMatch(
      /no PNG and no JPEG.*`return_image`, `return_audio` or `return_file`.*returnImage/,
    );
  });
});

function writeMedia(name: string): void {
  folder.write(`${name}/photo.jpg`, JPEG);
  folder.write(`${name}/quack`, WAV);
  folder.write(`${name}/ducks .csv`, "a,b\n");
}

describe("dependencies of scripts", () => {
  const USES = "import duckpond\nprint(duckpond.NAME)";

  /** Creates an environment like `python3 -m venv`, with one module, and without the network. */
  function makeVenv(place: string, word: string): void {
    const venv = join(folder.path, place, ".venv");
    execFileSync("python3", ["-m", "venv", "--without-pip", venv]);
    const where = execFileSync(join(venv, "bin/python"), ["-c", "import site; print(site.getsitepackages()[0])"]);
    writeFileSync(join(String(where).trim(), "duckpond.py"), `NAME = "${word}"\n`);
  }

  test("a `.venv` next to the script is used, before one in the tools folder", async () => {
    folder.script("near", "tool.py", USES);
    folder.script("far", "tool.py", USES);
    folder.script("warm", "tool.py", "import duckpond\ndef run(): return duckpond.NAME", '[run]\nmode = "warm"\n');
    makeVenv("near", "beside");
    makeVenv(".", "above");
    expect(await call("near")).toEqual([{ type: "text", text: "beside" }]);
    expect(await call("far")).toEqual([{ type: "text", text: "above" }]);
    expect(await call("warm")).toEqual([{ type: "text", text: "above" }]);
  });

  test.each([
    ["spawn", "tool.py", "import yaml_that_is_missing", "", ".venv/bin/pip install yaml_that_is_missing`"],
    ["warm", "tool.py", "import cv2.nothing\ndef run(): pass", '[run]\nmode = "warm"\n', "pip install opencv-python`"],
    ["node", "tool.mjs", 'import "@ducks/pond";', "", "in the script's folder: `npm install @ducks/pond`"],
  ])("reports a missing package with the remedy (%s)", async (name, file, text, toml, advice) => {
    folder.script(name, file, text, toml);
    expect(await call(name)).toContain(advice);
  });

  test("reports a failure for another reason unchanged", async () => {
    folder.script("other", "tool.py", "raise ValueError('No module for ducks')");
    expect(await call("other")).not.toContain("pip install");
  });
});
