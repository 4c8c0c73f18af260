import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Desk, exitOf, ROOT, textOf } from "../../../test/cli/harness.ts";

const EXAMPLE = join(ROOT, "examples/library");

test("R25: the example answers the document's question with quotations that the library confirms", async () => {
  await using desk = await Desk.create();
  const register = join(ROOT, "packages/toolyard/dist/runtimes/typescript/register.js");
  const child = desk.startCommand([process.execPath, "--import", register, join(EXAMPLE, "start.ts")]);
  const [stdout, stderr, code] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), exitOf(child)]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("The Law of Mind, p. 2)");
  expect(stdout).toContain("4 quotations confirmed");
  expect(stdout).toMatch(/Système dans lequel .* \(Littré, Émile, Dictionnaire de la langue française, p\. \d\)/);
});

test("the example's texts match the digests in SOURCES.md", () => {
  const rows = [...readFileSync(join(EXAMPLE, "texts/SOURCES.md"), "utf8").matchAll(/^- `(.+)`: `([0-9a-f]{64})`$/gm)];
  expect(rows).toHaveLength(6);
  for (const [, name, digest] of rows)
    expect(
      createHash("sha256")
        .update(readFileSync(join(EXAMPLE, "texts", name!)))
        .digest("hex"),
    ).toBe(digest);
});
