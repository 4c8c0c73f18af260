import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PACKAGE, ROOT } from "../cli/harness.ts";

const run = promisify(execFile);
const { exports: EXPORTS } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as {
  exports: Record<string, { types?: string }>;
};
/** All keys with declarations; a pattern key is represented by the names that other packages import. */
const KEYS = Object.keys(EXPORTS)
  .filter((key) => EXPORTS[key]!.types !== undefined)
  .map((key) => key.replace("*", "run"));
const PACKAGES = {
  toolyard: "packages/toolyard",
  "@toolyard/gnn": "packages/gnn",
  "@toolyard/library": "packages/library",
};
const RESOLUTIONS = [
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];
/** Node's types, the dependencies that declarations import, and the schema library of a program. */
const BESIDE = ["@types/node", "undici-types", "ajv", "undici", "zod"];

let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-types-")));
  await mkdir(join(folder, "node_modules/@types"), { recursive: true });
  // Copied, not linked, because a linked package would find the optional packages next to its real path.
  for (const [name, place] of Object.entries(PACKAGES)) {
    await cp(join(ROOT, place, "package.json"), join(folder, "node_modules", name, "package.json"));
    await cp(join(ROOT, place, "dist"), join(folder, "node_modules", name, "dist"), {
      recursive: true,
      filter: (path) => !/\.js$|\.py$|\.declarations/.test(path),
    });
  }
  for (const name of BESIDE) await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
  await cp(join(ROOT, "test/package/types"), folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"type": "module"}');
  await writeFile(
    join(folder, "all.ts"),
    KEYS.map((key, index) => `export * as key${index} from "toolyard${key.slice(1)}";\n`).join(""),
  );
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function compile(options: object, ...files: string[]): Promise<string> {
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2022",
        strict: true,
        noEmit: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        types: ["node"],
        ...options,
      },
      files,
    }),
  );
  return run(process.execPath, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", folder]).then(
    () => "",
    (error: { stdout: string }) => error.stdout,
  );
}

test.each(RESOLUTIONS)(
  "all declarations compile without skipLibCheck and optional packages ($moduleResolution)",
  async (options) => {
    expect(await compile(options, "all.ts")).toBe("");
  },
);

test.each(RESOLUTIONS)(
  "handlers have types of zod 3, 4, Standard and JSON Schema; wrong ones fail ($moduleResolution)",
  async (options) => {
    expect(await compile(options, "handlers.ts")).toBe("");
  },
);

test.each(RESOLUTIONS)(
  "L1: classes of bindings compile with snake_case and with camelCase methods; wrong ones do not ($moduleResolution)",
  async (options) => {
    const text = await readFile(join(folder, "bindings.ts"), "utf8");
    await writeFile(join(folder, "plain.ts"), text.replaceAll("override ", ""));
    expect(await compile(options, "bindings.ts", "plain.ts")).toBe("");
  },
);

test("the examples in public docstrings compile, and there are at least 25", async () => {
  const examples = execFileSync("git", ["grep", "-l", "@example", "--", "packages/*/src/*.ts"], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => path !== "" && !path.endsWith(".test.ts"))
    .flatMap((path) => examplesIn(readFileSync(join(ROOT, path), "utf8")));
  expect(examples.length).toBeGreaterThanOrEqual(25);
  const names = examples.map((_, at) => `example-${at}.ts`);
  await Promise.all(names.map((name, at) => writeFile(join(folder, name), examples[at]!)));
  expect(await compile({ ...RESOLUTIONS[0]!, skipLibCheck: true, exactOptionalPropertyTypes: false }, ...names)).toBe(
    "",
  );
});

function examplesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(/@example\n \* ```ts\n((?: \*.*\n)*?) \* ```/g), ([, lines = ""]) =>
    lines.replaceAll(/^ \* ?/gm, ""),
  );
}

test.each(RESOLUTIONS)(
  "lists, results and settings have types; wrong ones do not compile ($moduleResolution)",
  async (options) => {
    expect(await compile(options, "results.ts")).toBe("");
  },
);

test("declares each setting with its description and default", async () => {
  const text = await readFile(join(folder, "node_modules/toolyard/dist/hub/settings.d.ts"), "utf8");
  expect(text).toMatch(
    /\/\*\*\n +\* Port to listen on; 0 takes a free one\.\n +\* @default 8808\n +\*\/\n +readonly port\?: number;/,
  );
  const members = text.match(/^ +readonly \w+\??:/gm) ?? [];
  const described = text.match(/\*\/\n +readonly \w+\??:/g) ?? [];
  expect(members.length).toBeGreaterThan(300);
  expect(members.length - described.length).toBeLessThan(members.length / 20);
});

test("reports the position of a handler of the wrong type", async () => {
  await writeFile(
    join(folder, "wrong.ts"),
    `import type { ModuleHub } from "toolyard";
export const register = (hub: ModuleHub) =>
  hub.registerTool("x", ({ a }: { a: string }) => a, {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
  });
`,
  );
  const said = await compile(RESOLUTIONS[0]!, "wrong.ts");
  expect(said).toMatch(/wrong\.ts\(3,\d+\): error/);
  expect(said).toContain("Type 'number' is not assignable to type 'string'");
});
