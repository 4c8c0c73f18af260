import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, startService } from "../../toolyard/servers/shared/service.ts";
import { library } from "../src/service.ts";
import { CLEAR_IDEAS } from "./books.ts";

let folder: string;
let hub: Awaited<ReturnType<typeof openService>>;

const environment = (): Record<string, string> => ({
  LIBRARY_ROOTS: join(folder, "books"),
  TOOLYARD_HOME: folder,
  TOOLYARD_LOGGING_LEVEL: "error",
});

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "toolyard-library-")));
  mkdirSync(join(folder, "books"));
  writeFileSync(join(folder, "books", "clear.md"), CLEAR_IDEAS);
  writeFileSync(join(folder, "secret.md"), CLEAR_IDEAS);
  symlinkSync(join(folder, "secret.md"), join(folder, "books", "link.md"));
  hub = await openService(library, { environment: environment() });
});
afterAll(async () => {
  await hub.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the text of a failed call, parsed as JSON, with the kind of the failure. */
async function refusal(tool: string, args: Record<string, unknown>) {
  const outcome = await hub.call(tool, args);
  expect(outcome).toMatchObject({ ok: false });
  const { kind, result } = outcome as unknown as { kind: string; result: { content: { text: string }[] } };
  return { kind, answer: JSON.parse(result.content[0]!.text) as Record<string, unknown> };
}

const REFUSED: readonly [name: string, path: string, code: string, kind: string][] = [
  ["a file outside the folders", "/etc/hostname", "ACCESS_DENIED", "denied"],
  ["a path with dots", "../secret.md", "ACCESS_DENIED", "denied"],
  ["a link to a file outside", "link.md", "ACCESS_DENIED", "denied"],
  ["a path that does not exist outside", "/none/at/all.pdf", "ACCESS_DENIED", "denied"],
  ["a missing file in a folder", "missing.md", "DOCUMENT_NOT_FOUND", "tool_error"],
  ["a pattern outside the folders", "../*.md", "ACCESS_DENIED", "denied"],
  ["an https address that is not allowed", "https://example.com/a.pdf", "ACCESS_DENIED", "denied"],
  ["an http address", "http://example.com/a.pdf", "VALIDATION_ERROR", "invalid_params"],
  ["a path with NUL", "a\0b", "VALIDATION_ERROR", "invalid_params"],
];

describe("a refused path", () => {
  test.each(REFUSED)("parse_pdf returns %s as JSON with success false", async (_case, path, code, kind) => {
    expect(await refusal("parse_pdf", { pdf_path: path })).toEqual({
      kind,
      answer: {
        success: false,
        document_name: path,
        source_id: "",
        pages: 0,
        chunks_count: 0,
        cost_ocr: 0,
        cost_llm: 0,
        cost_total: 0,
        output_dir: "",
        metadata: {},
        error: expect.any(String),
        code,
      },
    });
  });

  test.each(REFUSED)("add_documents returns %s as JSON with a failed source", async (_case, path, code, kind) => {
    expect(await refusal("add_documents", { paths: ["clear.md", path] })).toEqual({
      kind,
      answer: {
        done: 0,
        total: 2,
        sources: [{ source: path, status: "failed", error: expect.any(String), code }],
        total_count: 1,
      },
    });
  });

  test("add_documents adds no document if it refuses one of them", async () => {
    await refusal("add_documents", { paths: ["clear.md", "../secret.md"] });
    expect(await hub.call("list_documents", {})).toMatchObject({ result: { structuredContent: { total_count: 0 } } });
  });

  test("parse_pdf accepts a file in a folder", async () => {
    expect(await hub.call("parse_pdf", { pdf_path: "clear.md" })).toMatchObject({
      ok: true,
      result: { structuredContent: { success: true } },
    });
  });

  test("R7: a client over HTTP gets the refusal as JSON in an error result", async () => {
    await using running = await startService(library, { environment: environment(), port: 0 });
    const client = new Client({ name: "scholar", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(running.served.endpoint)));
    for (const [name, args] of [
      ["parse_pdf", { pdf_path: "../secret.md" }],
      ["add_documents", { paths: ["../secret.md"] }],
    ] as const) {
      const { isError, content } = await client.callTool({ name, arguments: args });
      expect(isError).toBe(true);
      expect(JSON.stringify(JSON.parse((content as { text: string }[])[0]!.text))).toContain("ACCESS_DENIED");
    }
    await client.close();
  });
});
