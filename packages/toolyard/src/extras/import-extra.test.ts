import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FailError, OptionError } from "../core/errors.ts";
import { extraFolder, LOADER_FILE } from "./extras-folder.ts";
import { EXTRAS, getExtra, parseExtra } from "./extras.ts";
import { findPackage, nearestPackage } from "./find-package.ts";
import { importExtra, missingExtra, resolveExtra } from "./import-extra.ts";
import { ownCommand } from "./own-command.ts";

const NAME = "@toolyard/python-wasi";

let home: string;
let ownFile: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-extras-")));
  ownFile = join(home, "project/node_modules/toolyard/dist/chunks/extras/find-package.js");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const places = () => ({ variables: { TOOLYARD_HOME: home }, ownFile });

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function writePackage(modules: string, version: string): string {
  const folder = join(modules, NAME);
  write(join(folder, "package.json"), JSON.stringify({ name: NAME, version, main: "index.js" }));
  write(join(folder, "index.js"), `exports.version = ${JSON.stringify(version)};`);
  write(join(folder, "python.wasm"), "wasm");
  return folder;
}

/** Creates an installed extra, like `toolyard extras add`. */
function writeInstalled(version = "0.1.0"): string {
  const root = extraFolder("python", places().variables);
  write(join(root, LOADER_FILE), "export const load = (specifier) => import(specifier);\n");
  return writePackage(join(root, "node_modules"), version);
}

test("imports a package from the data folder", async () => {
  writeInstalled();
  const module = await importExtra<{ readonly version: string }>("python", NAME, places());
  expect(module.version).toBe("0.1.0");
});

test.each(["data folder", "TOOLYARD_EXTRAS"])(
  "prefers the data folder to TOOLYARD_EXTRAS (installed in %s)",
  (place) => {
    const image = { TOOLYARD_HOME: join(home, "image") };
    const variables = { ...places().variables, TOOLYARD_EXTRAS: join(home, "image/data/extras") };
    expect(findPackage("python", NAME, { ...places(), variables })).toBeUndefined();
    const shared = writePackage(join(extraFolder("python", image), "node_modules"), "0.1.0");
    const own =
      place === "data folder" ? writePackage(join(extraFolder("python", variables), "node_modules"), "0.1.0") : "";
    const found = findPackage("python", NAME, { ...places(), variables });
    expect(found).toMatchObject({ folder: own || shared, place: "installed" });
  },
);

test("resolves a file of a package in the data folder", () => {
  const folder = writeInstalled();
  expect(resolveExtra("python", `${NAME}/python.wasm`, places())).toBe(join(folder, "python.wasm"));
  expect(resolveExtra("python", `${NAME}/dist/absent.wasm`, places())).toBeUndefined();
});

test("rejects with the command that installs the extra if the extra is not installed", async () => {
  const failure = importExtra("python", NAME, { ...places(), purpose: "a test" });
  await expect(failure).rejects.toBeInstanceOf(FailError);
  await expect(failure).rejects.toMatchObject({
    failure: { kind: "unavailable", retryable: false },
    message: expect.stringMatching(
      /^The extra `python` is not installed, which is required for a test\. Install it: `toolyard extras add python` \(\d+(\.\d)? MB\)\.$/,
    ) as string,
  });
  expect(resolveExtra("python", `${NAME}/python.wasm`, places())).toBeUndefined();
});

test("prefers a matching package next to the program", () => {
  writeInstalled();
  writePackage(join(home, "project/node_modules"), "0.1.4");
  expect(findPackage("python", NAME, places())).toMatchObject({ version: "0.1.4", place: "beside" });
});

test("finds a package in a folder above, as Node does", () => {
  writePackage(join(home, "node_modules"), "0.1.0");
  expect(findPackage("python", NAME, places())).toMatchObject({ place: "beside" });
});

test.each(["2.0.0", "3.11.9", "4.0.0", "0.1.0-beta.1"])("ignores version %s next to the program", (version) => {
  writePackage(join(home, "project/node_modules"), version);
  expect(findPackage("python", NAME, places())).toBeUndefined();
  writeInstalled();
  expect(findPackage("python", NAME, places())).toMatchObject({ place: "installed", version: "0.1.0" });
});

test("does not search the current folder", () => {
  writePackage(join(home, "elsewhere/node_modules"), "0.1.0");
  const cwd = process.cwd();
  process.chdir(join(home, "elsewhere"));
  try {
    expect(findPackage("python", NAME, places())).toBeUndefined();
  } finally {
    process.chdir(cwd);
  }
});

test("does not use an installed extra of another version", () => {
  const root = join(dirname(extraFolder("python", places().variables)), "3.11.0-000000000000");
  writePackage(join(root, "node_modules"), "0.1.0");
  expect(findPackage("python", NAME, places())).toBeUndefined();
});

test.each(["", "{", "[]", '{"version": 3}'])("does not use a package whose manifest is %j", (text) => {
  const folder = writeInstalled();
  writeFileSync(join(folder, "package.json"), text);
  expect(findPackage("python", NAME, places())).toBeUndefined();
});

test("finds every extra in a checkout", () => {
  const variables = { TOOLYARD_HOME: home };
  for (const { name, packages } of EXTRAS)
    for (const one of packages) expect(findPackage(name, one, { variables }), one).toMatchObject({ place: "beside" });
});

test("the message contains the extra's own purpose if the caller names none", () => {
  for (const { name, purpose } of EXTRAS) expect(missingExtra(name)).toContain(`required for ${purpose}.`);
});

test("finds the nearest of several versions", () => {
  writePackage(join(home, "node_modules"), "0.1.0");
  writePackage(join(home, "project/node_modules"), "1.0.0");
  expect(nearestPackage(NAME, ownFile)?.version).toBe("1.0.0");
});

test("parses the names of extras, and suggests a name after a typing error", () => {
  expect(parseExtra("models")).toBe(getExtra("models"));
  expect(() => parseExtra("modles")).toThrow(OptionError);
  expect(() => parseExtra("modles")).toThrow("Did you mean `models`?");
  expect(() => parseExtra("__proto__")).toThrow("The extras are: python, models,");
});

test.each([
  ["of a project", "project/node_modules/toolyard/dist/x.js", "project/package.json", "npx toolyard"],
  ["of npx", ".npm/_npx/0123/node_modules/toolyard/dist/x.js", ".npm/_npx/0123/package.json", "npx toolyard"],
  ["of npm's global folder", "lib/node_modules/toolyard/dist/x.js", "", "toolyard"],
  ["of a checkout", "work/toolyard/dist/x.js", "work/toolyard/package.json", "toolyard"],
])("detects whether the program runs as a dependency: %s", (_place, file, manifest, command) => {
  if (manifest !== "") write(join(home, manifest), "{}");
  expect(ownCommand(join(home, file))).toBe(command);
});
